"""The task with claude-agent-sdk."""

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, StreamEvent

options = ClaudeAgentOptions(
    allowed_tools=["Read", "Edit", "Bash"], permission_mode="acceptEdits", include_partial_messages=True
)


async def task(prompt, heard):
    async with ClaudeSDKClient(options) as client:
        await client.query(prompt)
        result = ""
        async for message in client.receive_response():
            if isinstance(message, StreamEvent) and message.event.get("type") == "content_block_delta":
                heard()
            elif isinstance(message, ResultMessage):
                result = message.result
    return result
