"""Hooks that guard an agent: commands are put to the person, secrets are kept out of what the model reads."""

# <!-- model: [{"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}}}, {"text": "I may not."}] -->

import asyncio
import re

from farhand.sdk import Agent, Ask, Text, hook
from farhand.sdk.hooks import AfterToolInput, AfterToolOutput, BeforeToolInput, BeforeToolOutput


@hook("BeforeTool", "run_shell_command")
def ask_first(event: BeforeToolInput) -> BeforeToolOutput:
    return BeforeToolOutput(decision="ask", reason=f"Run {event.tool_input['command']!r}?")


@hook("AfterTool", "read_file|run_shell_command")
def keep_secrets(event: AfterToolInput) -> AfterToolOutput | None:
    if re.search(r"(?i)api[_-]?key\s*[:=]\s*\S{16}", str(event.tool_response.get("llmContent"))):
        return AfterToolOutput(decision="deny", reason="It holds a key.")
    return None


async def main() -> None:
    session = Agent(hooks=[ask_first, keep_secrets], interactive=True).session()
    async for event in session.send_stream("what is in this folder?"):
        if isinstance(event, Ask):
            print(event.question.text, "- no")
            session.answer(event.question.id, False)
        elif isinstance(event, Text):
            print(event.text)


if __name__ == "__main__":
    asyncio.run(main())
