"""A tool of one's own with typed arguments, beside the built-in ones."""

# <!-- model: [{"functionCall": {"name": "count_words", "args": {"path": "example.py"}}}, {"text": "Quite a few."}] -->

import asyncio
from typing import Annotated

from farhand.sdk import Agent, SessionContext, ToolError, tool


@tool(kind="read")
async def count_words(path: Annotated[str, "a text file of the project"], context: SessionContext) -> dict[str, int]:
    """Count the words of a file."""
    text = await context.fs.read(path)
    if text is None:
        raise ToolError(f"There is no file {path}.")
    return {"words": len(text.split())}


async def main() -> None:
    agent = Agent(tools=[count_words], builtin_tools=["read_file", "list_directory"])
    result = await agent.send("how many words has this script?")
    print(result.text)


if __name__ == "__main__":
    asyncio.run(main())
