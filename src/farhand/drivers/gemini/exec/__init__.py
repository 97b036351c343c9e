"""The Gemini CLI as a process a turn: `-o stream-json` behind the line protocol."""
