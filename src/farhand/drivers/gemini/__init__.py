"""Gemini CLI as a worker: over ACP, a process a turn, or in its own terminal."""
