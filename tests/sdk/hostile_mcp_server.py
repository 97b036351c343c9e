"""MCP servers that misbehave, by hand: `hostile_mcp_server.py silent|noisy|schemas|endless|dies`."""

from __future__ import annotations

import json
import sys
from typing import Any

BAD: list[Any] = [
    {"name": "fine", "inputSchema": {"type": "object"}},
    {"name": "text", "inputSchema": {"type": "string"}},
    {"name": " ", "inputSchema": {"type": "object"}},
    {"name": "huge", "inputSchema": {"type": "object", "description": "x" * 200_000}},
]


def answer(message: dict[str, Any], how: str) -> Any:
    if message["method"] == "initialize":
        who = {"name": how, "version": "1"}
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": who}
    if message["method"] == "tools/list" and how == "endless":
        page = int((message.get("params") or {}).get("cursor") or 0) + 1
        tools = [{"name": f"t{page}_{number}", "inputSchema": {"type": "object"}} for number in range(20)]
        return {"tools": tools, "nextCursor": str(page)}
    if message["method"] == "tools/list":
        return {"tools": BAD if how == "schemas" else BAD[:1]}
    return {"content": [{"type": "text", "text": "ok"}]}


def main(how: str) -> None:
    if how == "dies":
        sys.exit("no licence found")
    for line in sys.stdin:
        message = json.loads(line)
        if how == "silent" or "id" not in message:
            continue
        if how == "noisy":
            print("Loading...\n{", flush=True)
            for number in range(2000):
                note = {"level": "info", "data": f"{number} " + "x" * 500}
                print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": note}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message, how)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
