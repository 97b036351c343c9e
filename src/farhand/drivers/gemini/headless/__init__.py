"""The Gemini CLI without a terminal: over ACP."""
