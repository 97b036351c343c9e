"""Policies that let an agent look and write docs, and put the rest to the person at the terminal."""

# <!-- model: [{"functionCall": {"name": "run_shell_command", "args": {"command": "make deploy"}}},
#      {"text": "Not now, then."}] -->

import asyncio

from farhand.sdk import Agent, Terminal, allow, deny

RULES = [
    allow("write_file", "replace", arguments=r'"file_path":"docs/'),
    deny("run_shell_command", prefix="git push", reason="Pushing is for people."),
]


async def main() -> None:
    agent = Agent(policies=RULES, mode="default", asker=Terminal())
    print((await agent.send("deploy this")).text)


if __name__ == "__main__":
    asyncio.run(main())
