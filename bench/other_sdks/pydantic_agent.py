"""The task with pydantic-ai."""

import subprocess
from pathlib import Path

from pydantic_ai import Agent, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

agent = Agent("openai-chat:gpt-5")


@agent.tool_plain
def read_file(file_path: str) -> str:
    """Reads a file."""
    return Path(file_path).read_text()


@agent.tool_plain
def replace(file_path: str, old_string: str, new_string: str) -> str:
    """Replaces text in a file."""
    path = Path(file_path)
    text = path.read_text()
    if text.count(old_string) != 1:
        return "The text is not there, or more than once."
    path.write_text(text.replace(old_string, new_string))
    return "replaced"


@agent.tool_plain
def run_shell_command(command: str) -> str:
    """Runs a shell command."""
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)
    return f"exit code {ended.returncode}\n{ended.stdout}{ended.stderr}"


async def hear(events, heard):
    async for event in events:
        if (isinstance(event, PartStartEvent) and isinstance(event.part, TextPart)) or (
            isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta)
        ):
            heard()


async def task(prompt, heard):
    result = await agent.run(prompt, event_stream_handler=lambda _, events: hear(events, heard))
    return result.output
