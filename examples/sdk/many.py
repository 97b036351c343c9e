"""Asks the same of many things at once: a session each, all in one process."""

# <!-- model: [{"text": "ok"}, {"text": "ok"}, {"text": "ok"}] -->

import asyncio

from farhand.sdk import Agent

TOPICS = ["apples", "pears", "plums"]


async def main() -> None:
    async with Agent(builtin_tools=False, records=False) as agent:
        answers = await asyncio.gather(*(agent.send(f"One sentence about {topic}, please.") for topic in TOPICS))
    for topic, answer in zip(TOPICS, answers, strict=True):
        print(f"{topic}: {answer.text}")


if __name__ == "__main__":
    asyncio.run(main())
