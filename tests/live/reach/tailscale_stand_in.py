"""Behaves as the command `tailscale` does: tells its state as JSON, keeps Serve settings, refuses, or waits for a
consent that never comes. `behaviour` beside it says which; `serve.json` are its settings; `called` notes every call."""

import json
import sys
import time
from pathlib import Path

HERE = Path(sys.argv[0]).resolve().parent
NAME = "desk.tail1234.ts.net"
SETTINGS = HERE / "serve.json"


def behaviour() -> str:
    try:
        return (HERE / "behaviour").read_text().strip()
    except OSError:
        return "up"


def read() -> dict[str, dict[str, object]]:
    return json.loads(SETTINGS.read_text()) if SETTINGS.exists() else {}


def serve(words: list[str]) -> None:
    settings = read()
    if words[:2] == ["status", "--json"]:
        print(json.dumps(settings))
        return
    if behaviour() == "denied":
        sys.stderr.write("Access denied: serve config denied\n\nUse 'sudo tailscale serve'.\n")
        sys.exit(1)
    port = next(word.partition("=")[2] for word in words if word.startswith("--https="))
    if words[-1] == "off":
        settings["TCP"].pop(port)
        settings["Web"].pop(f"{NAME}:{port}")
    elif behaviour() == "no consent":
        print(
            "\nServe is not enabled on your tailnet.\nTo enable, visit:\n\n  https://login.tailscale.com/f/serve?node=n1\n"
        )
        sys.stdout.flush()
        time.sleep(600)
    else:
        settings.setdefault("TCP", {})[port] = {"HTTPS": True}
        settings.setdefault("Web", {})[f"{NAME}:{port}"] = {"Handlers": {"/": {"Proxy": words[-1]}}}
    SETTINGS.write_text(json.dumps(settings))


def main() -> None:
    words = sys.argv[1:]
    with (HERE / "called").open("a") as file:
        file.write(" ".join(words) + "\n")
    if words[0] == "status":
        state = "NeedsLogin" if behaviour() == "logged out" else "Running"
        print(json.dumps({"BackendState": state, "Self": {"DNSName": f"{NAME}.", "Online": True}}))
    else:
        serve(words[1:])


if __name__ == "__main__":
    main()
