"""An extension with a tool and two subagents: one looks for bugs, one explains what it found."""

# <!-- model: [{"functionCall": {"name": "invoke_agent", "args": {"agent_name": "finder", "prompt": "Look at a.py."}}},
#      {"text": "Line 1 divides by zero."}, {"text": "a.py divides by zero."}] -->

import asyncio

from farhand.sdk import Agent, Notice, Text, extension, subagent

team = extension(
    name="team",
    instructions="Let the finder look first, then answer in one sentence.",
    subagents=[
        subagent(
            name="finder",
            description="Finds bugs in a file.",
            instructions=lambda prompt, context: f"You find bugs in {context.cwd}. Your task: {prompt}",
            tools=["read_file", "grep_search", "glob"],
        ),
        subagent(name="explainer", description="Explains a bug.", instructions="You explain bugs to beginners."),
    ],
)


async def main() -> None:
    async for event in Agent(extensions=[team]).session().send_stream("what is wrong with a.py?"):
        if isinstance(event, Text | Notice):
            print(event)


if __name__ == "__main__":
    asyncio.run(main())
