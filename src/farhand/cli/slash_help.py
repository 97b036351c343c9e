"""Help lines of the commands that a slash command mirrors; written by scripts/write_reference.py."""

MIRRORED = {
    "focus": "choose whom to talk to from now on",
    "interrupt": "stop the running turn, and take back what waits",
    "relaunch": "restart an agent that is offline or stuck",
    "hire": "take a worker on",
    "end": "let a worker go",
    "tune": "show or change a worker's mode (default, auto_edit, plan, yolo), model and effort",
    "retry": "say again what failed, or go on although a usage limit may still hold",
    "sprint": "let a worker do a list of tasks by itself",
    "review": "have a worker's work judged by another agent",
    "inbox": "show what waits for you: questions, the oldest first, and workers that need you",
    "quiet": "show or change what may buzz, and when",
    "digest": "show what happened while you were away",
    "sessions": "list the conversations that agents have on the node's machine",
    "adopt": "take such a conversation up as a worker",
    "handback": "end a worker and tell how to go on with its conversation at the desk",
    "devices": "list the devices that are paired, revoke one",
}
