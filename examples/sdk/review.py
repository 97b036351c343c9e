"""Reviews the changes of a git repository and gives a verdict as a typed value."""

# <!-- model: [{"functionCall": {"name": "changes", "args": {}}}, {"functionCall": {"name": "final_result",
# "args": {"ready": false, "remarks": [{"file": "a.py", "remark": "no test"}]}}}] -->

import asyncio
from dataclasses import dataclass

from farhand.sdk import Agent, SessionContext


@dataclass
class Remark:
    file: str
    remark: str


@dataclass
class Review:
    """The verdict on a change."""

    ready: bool
    remarks: list[Remark]


async def changes(context: SessionContext) -> str:
    """Shows what was changed since the last commit."""
    return (await context.shell.exec("git diff HEAD")).output


async def main() -> None:
    agent = Agent(
        tools=[changes], builtin_tools=["read_file", "grep_search"], instructions="You review code. Be strict."
    )
    review = (await agent.send("Are the changes ready to be merged?", output=Review)).data
    print("ready" if review.ready else "not ready")
    for remark in review.remarks:
        print(f"  {remark.file}: {remark.remark}")


if __name__ == "__main__":
    asyncio.run(main())
