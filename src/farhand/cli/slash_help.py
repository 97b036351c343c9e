"""Help lines of the commands that a slash command mirrors; written by scripts/write_reference.py."""

MIRRORED = {
    "focus": "choose whom to talk to from now on",
    "interrupt": "stop the running turn",
    "relaunch": "restart an agent that is offline or stuck",
    "hire": "take a worker on",
    "end": "let a worker go",
    "tune": "show or change a worker's mode (default, auto_edit, plan, yolo) and model",
    "retry": "go on with what waits, although a usage limit may still hold",
    "sprint": "let a worker do a list of tasks by itself",
    "sessions": "list the conversations that agents have on the node's machine",
    "adopt": "take such a conversation up as a worker",
    "handback": "end a worker and tell how to go on with its conversation at the desk",
}
