"""The task with farhand.sdk."""

from farhand.sdk import Agent, Text

agent = Agent(model="openai:gpt-5", mode="yolo")


async def task(prompt, heard):
    async with agent.session().run(prompt) as run:
        async for event in run:
            if isinstance(event, Text):
                heard()
    return run.result.text
