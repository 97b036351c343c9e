"""A small ACP agent with the modes of its first argument and the choices of its second one: it wants to write a file in
every turn, and says in its verdict how that went."""

import json
import re
import sys
from pathlib import Path
from typing import Any

MODES, KINDS = (json.loads(word) for word in sys.argv[1:3])
MODE = ["usual"]


def send(**fields: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    return dict(json.loads(line)) if line else sys.exit(0)


def asked_for_permission(session: str) -> str:
    """What the client says to a file that is to be written; `allow…` writes it."""
    call = {"toolCallId": "t1", "title": "Write pwned", "kind": "edit", "rawInput": {"file_path": "pwned"}}
    options = [{"optionId": f"the-{kind}", "name": kind, "kind": kind} for kind in KINDS]
    params = {"sessionId": session, "toolCall": call, "options": options}
    send(id="ask", method="session/request_permission", params=params)
    while (answer := receive()).get("id") != "ask":
        pass
    outcome = answer["result"]["outcome"]
    chosen = str(outcome.get("optionId", outcome["outcome"]))
    if chosen.startswith("the-allow"):
        Path("pwned").write_text("x")
    return chosen


def turn(params: dict[str, Any]) -> dict[str, str]:
    session, told = params["sessionId"], params["prompt"][0]["text"]
    mark = re.search(r"BEGIN DATA ([0-9a-f]+)", told)
    how = f"{MODE[0]}, {asked_for_permission(session)}, {'written' if Path('pwned').exists() else 'not written'}"
    verdict: dict[str, object] = {
        "review": mark[1] if mark else "",
        "verdict": "approve",
        "findings": [],
        "summary": how,
    }
    content = {"type": "text", "text": json.dumps(verdict)}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    send(method="session/update", params={"sessionId": session, "update": update})
    return {"stopReason": "end_turn"}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {"protocolVersion": 1, "agentCapabilities": {}}
        case "session/new":
            offered = [{"id": one, "name": one} for one in MODES]
            modes = {"currentModeId": MODES[0], "availableModes": offered} if MODES else None
            return {"sessionId": "s1", **({"modes": modes} if modes else {})}
        case "session/set_mode":
            MODE[0] = params["modeId"]
            return {}
        case _:
            return turn(params)


if __name__ == "__main__":
    while True:
        asked = receive()
        if "id" in asked and "method" in asked:
            send(id=asked["id"], result=answer(asked["method"], asked.get("params", {})))
