"""The task with openai-agents."""

import subprocess
from pathlib import Path

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled

set_default_openai_api("chat_completions")
set_tracing_disabled(True)


@function_tool
def read_file(file_path: str) -> str:
    """Reads a file."""
    return Path(file_path).read_text()


@function_tool
def replace(file_path: str, old_string: str, new_string: str) -> str:
    """Replaces text in a file."""
    path = Path(file_path)
    text = path.read_text()
    if text.count(old_string) != 1:
        return "The text is not there, or more than once."
    path.write_text(text.replace(old_string, new_string))
    return "replaced"


@function_tool
def run_shell_command(command: str) -> str:
    """Runs a shell command."""
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)
    return f"exit code {ended.returncode}\n{ended.stdout}{ended.stderr}"


agent = Agent(name="coder", model="gpt-5", tools=[read_file, replace, run_shell_command])


async def task(prompt, heard):
    result = Runner.run_streamed(agent, prompt)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            heard()
    return result.final_output
