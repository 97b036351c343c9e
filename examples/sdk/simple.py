"""Asks what a project does, like `gemini -p`, and prints the answer as it comes."""

# <!-- model: [[{"text": "It "}, {"text": "greets people."}]] -->

import asyncio
import sys

from farhand.sdk import Agent, Text


async def main(folder: str) -> None:
    agent = Agent(cwd=folder)
    session = agent.session()
    async for event in session.send_stream("what does this project do?"):
        if isinstance(event, Text):
            print(event.text, end="", flush=True)
    print()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "."))
