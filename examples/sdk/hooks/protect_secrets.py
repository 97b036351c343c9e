"""A command hook for `settings.json`, of the SDK or of the Gemini CLI: writes to `.env` files are refused.

{"hooks": {"BeforeTool": [{"matcher": "write_file|replace", "hooks": [
    {"type": "command", "command": "/path/to/python /path/to/protect_secrets.py", "timeout": 5000}]}]}}
"""

from farhand.sdk.hooks import BeforeToolInput, BeforeToolOutput, hook


@hook("BeforeTool", "write_file|replace")
def protect_secrets(event: BeforeToolInput) -> BeforeToolOutput | None:
    if ".env" in event.tool_input["file_path"]:
        return BeforeToolOutput(decision="deny", reason="Secrets stay as they are.")
    return None


if __name__ == "__main__":
    protect_secrets.run_as_command()
