"""The Stop hook for sessions that carry a bridge's variables: brings the last answer of the transcript to the bridge.

A single file for `python3 -I -S`, beside `forward-to-bridge.py`; it imports nothing of ours. A session is ours when its
name begins with TMUX_PREFIX; what is missing (TMUX_PREFIX, SESSIONS_DIR, BRIDGE_URL or PORT) makes it silent, and so
does FARHAND_HOOKS=session: such a session tells of its answers itself. It always ends with 0. Its argument is the
kind of the transcript's records in which the agent speaks (`assistant`), or `words`: then the answer is what the agent
itself tells the hook, and no transcript is looked at.
"""

from __future__ import annotations

import os
import sys
import time

# What a session of somebody else never needs is loaded when it is used: the hook runs at the end of every turn.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

FORWARDER = "forward-to-bridge.py"
SPEAKS, WORDS = "assistant", "words"
NAMES = ("BRIDGE_URL", "TMUX_PREFIX", "SESSIONS_DIR", "PORT", "TMUX_FALLBACK")
TRIES = 10
PAUSE_SECONDS = 0.5
# A tmux on a busy machine; a session whose name is not known would lose its answer.
TMUX_SECONDS = 10
BLOCK_BYTES = 64 * 1024
WARNING = "\n\n⚠️ May be incomplete. Retry if needed."
FEEDBACK = "doing this session"
MARKERS = tuple("·✶✻⏵⎿")
NOISE = ("stop hook", "Whirring", "Herding", "Mulling", "Recombobulating", "Cooked for", "Saut", "Tip:")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
NAME_LETTERS = LETTERS | frozenset("0123456789-")


class BridgedSession:
    """A session of the bridge: which worker it is, where its files are, and where answers are posted."""

    def __init__(self, worker: str, folder: Path, endpoint: str, *, falls_back: bool) -> None:
        self.worker = worker
        self.folder = folder
        self.endpoint = endpoint
        self.falls_back = falls_back


def main(
    payload: bytes, environ: Mapping[str, str], wait: Callable[[float], None] = time.sleep, speaks: str = SPEAKS
) -> None:
    """Brings the answer that has just ended."""
    session = find_session(environ)
    if session is not None and speaks == WORDS:
        text, origin = last_words(payload) or ("", "")
        if text:
            forward(session, text, named(origin, text))
        clear_pending(session)
        return
    transcript = transcript_of(payload) if session is not None else None
    if session is None or transcript is None:
        return
    answer = last_answer(transcript, wait, speaks)
    text, origin = answer if answer and answer[0] else last_words(payload) or answer or ("", "")
    if not text and not transcript.is_file():
        return
    if not text and answer and session.falls_back and environ.get("TMUX"):
        seen = answer_on_screen(tmux(environ, "capture-pane", "-p", "-S", "-500", *target(environ)))
        text = seen + WARNING if seen else ""
    if text:
        forward(session, text, named(origin, text))
    clear_pending(session)


def named(origin: str, text: str) -> str:
    """The answer's name: the same words to the same message are the same answer, so repeats deduplicate."""
    import hashlib

    return hashlib.sha256(f"{origin}\0{text}".encode("utf-8", "replace")).hexdigest()[:32]


# --- whose session this is


def find_session(environ: Mapping[str, str]) -> BridgedSession | None:
    """The session as tmux and the environment tell it; None when it is not ours or anything is missing."""
    if environ.get("FARHAND_HOOKS") == "session" or not (environ.get("TMUX") or environ.get("BRIDGE_SESSION")):
        return None
    name = tmux(environ, "display-message", "-p", *target(environ), "#{session_name}").strip()
    shown = tmux(environ, "show-environment", "-t", f"={name}") if name else ""
    config = read_config(shown, environ)
    if not name and environ.get("BRIDGE_SESSION"):
        name = config["TMUX_PREFIX"] + environ["BRIDGE_SESSION"]
    return decide(name, config)


def read_config(shown: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Each setting from the tmux session's environment, or else from the shell's."""
    lines = (line.partition("=") for line in shown.splitlines() if "=" in line)
    in_tmux = {name: value for name, _, value in lines}
    return {name: in_tmux.get(name) or environ.get(name, "") for name in NAMES}


def decide(name: str, config: Mapping[str, str]) -> BridgedSession | None:
    """Fails closed: a session of another node, or of nobody, is none."""
    prefix, sessions = config["TMUX_PREFIX"], config["SESSIONS_DIR"]
    if not prefix or not sessions or not (config["BRIDGE_URL"] or config["PORT"]):
        return None
    worker = name.removeprefix(prefix)
    if not name.startswith(prefix) or not worker or not NAME_LETTERS.issuperset(worker):
        return None
    from pathlib import Path

    address = config["BRIDGE_URL"].rstrip("/") or f"http://localhost:{config['PORT']}"
    falls_back = config["TMUX_FALLBACK"] != "0"
    return BridgedSession(worker, Path(sessions) / worker, f"{address}/response", falls_back=falls_back)


def target(environ: Mapping[str, str]) -> list[str]:
    """The pane that the hook runs in, which need not be the one that somebody looks at."""
    return ["-t", environ["TMUX_PANE"]] if environ.get("TMUX_PANE") else []


def tmux(environ: Mapping[str, str], *words: str) -> str:
    """What tmux says; nothing outside of tmux, where it would speak of somebody else's session."""
    if not environ.get("TMUX"):
        return ""
    import subprocess

    try:
        done = subprocess.run(["tmux", *words], capture_output=True, check=False, timeout=TMUX_SECONDS, env=environ)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


# --- the transcript


def transcript_of(payload: bytes) -> Path | None:
    """The transcript that the payload names; it may not be written yet."""
    import json
    from pathlib import Path

    try:
        return Path(json.loads(payload)["transcript_path"])
    except (ValueError, KeyError, TypeError):
        return None


def last_words(payload: bytes) -> tuple[str, str] | None:
    """The answer as the agent itself tells it, for a transcript that came too late, and what names the turn."""
    fields = parsed(payload)
    words = fields.get("last_assistant_message")
    if not isinstance(words, str) or not words:
        return None
    return words, f"{fields.get('session_id')}:{fields.get('prompt_id') or fields.get('turn_id')}"


def last_answer(transcript: Path, wait: Callable[[float], None], speaks: str = SPEAKS) -> tuple[str, str] | None:
    """What was said after the last user message, waited for up to 5 s, and which message that is.

    None when there is no user message at all. An agent under load writes its transcript after it calls the hook, so
    that a file or a message that is missing is waited for like the answer."""
    answer: tuple[str, str] | None = None
    for number in range(TRIES + 1):
        if number:
            wait(PAUSE_SECONDS)
        answer = read_answer(transcript, speaks)
        if answer and answer[0]:
            break
    return answer


def read_answer(transcript: Path, speaks: str = SPEAKS) -> tuple[str, str] | None:
    """The texts after the last user message, and what names that message; None when there is none."""
    if not transcript.is_file():
        return None
    texts: list[str] = []
    seen: set[object] = set()
    for line in lines_backwards(transcript):
        record = parsed(line)
        if record.get("isSidechain"):
            continue
        if record.get("type") == "user":
            return "\n\n".join(reversed(texts)), str(record.get("uuid") or line.decode("utf-8", "replace"))
        if record.get("type") != speaks:
            continue
        if isinstance(record.get("content"), str):
            # Such a record is written again, under the same id, whenever a tool of it has come back.
            texts += [record["content"]] if record["content"] and record.get("id") not in seen else []
            seen.add(record.get("id"))
        else:
            texts += reversed(texts_of(record))
    return None


def parsed(line: bytes) -> dict[str, Any]:
    """One line; empty when it is not whole yet, or no record."""
    import json

    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def texts_of(record: Mapping[str, Any]) -> list[str]:
    """The text blocks of an assistant's record."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    found = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return [text for text in found if isinstance(text, str) and text]


def lines_backwards(path: Path) -> Iterator[bytes]:
    """The file's lines from the last to the first: a long transcript costs no more than its end."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        rest = b""
        while position:
            size = min(BLOCK_BYTES, position)
            position = file.seek(position - size)
            first, *whole = (file.read(size) + rest).split(b"\n")
            yield from (line for line in reversed(whole) if line.strip())
            rest = first
        if rest.strip():
            yield rest


# --- the screen, as the last resort


def answer_on_screen(screen: str) -> str:
    """The last answer on the screen that is not the question how the session goes."""
    answers = [answer for group in groups(screen) if (answer := cleaned(group))]
    return answers[-1] if answers else ""


def groups(screen: str) -> list[list[list[str]]]:
    """The answers on a screen, each with its parts: from `● ` on, up to the next prompt or divider."""
    found: list[list[list[str]]] = []
    inside = False
    for line in screen.splitlines():
        if line.lstrip().startswith(("❯", "───")):
            inside = False
        elif line.startswith("● "):
            found += [] if inside else [[]]
            found[-1].append([line[2:]])
            inside = True
        elif inside:
            found[-1][-1].append(line.removeprefix("  "))
    return found


def cleaned(group: list[list[str]]) -> str:
    """The words of an answer, without what only decorates the screen."""
    parts = [part for part in group if FEEDBACK not in part[0]]
    return "\n".join(line.rstrip() for part in parts for line in part if not is_noise(line)).strip()


def is_noise(line: str) -> bool:
    """Whether a line is the CLI's own and no part of an answer."""
    bare = line.strip()
    return bare.startswith(MARKERS) or any(word in line for word in NOISE) or is_header(bare)


def is_header(line: str) -> bool:
    """Whether a line is one word with a colon, such as `analysis:`."""
    return len(line) > 1 and line[-1] == ":" and LETTERS.issuperset(line[:-1])


# --- on its way


def forward(session: BridgedSession, text: str, name: str) -> None:
    """Leaves the answer in the worker's folder and starts the forwarder, which takes it from there."""
    import subprocess
    from pathlib import Path

    file = keep(session.folder, name, text)
    forwarder = Path(__file__).resolve().with_name(FORWARDER)
    if not forwarder.exists():
        forwarder = forwarder.with_name("forward_to_bridge.py")
    if file is None:
        return
    subprocess.Popen(
        [sys.executable, "-I", "-S", str(forwarder), str(file), session.worker, session.endpoint],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def keep(folder: Path, name: str, text: str) -> Path | None:
    """Writes the answer where the bridge finds it if it is away now; None for a worker that nobody knows."""
    if not folder.is_dir():
        return None
    answers = folder / "answers"
    answers.mkdir(mode=0o700, exist_ok=True)
    path = answers / f"{name}.md"
    fresh = path.with_suffix(f".{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    fresh.replace(path)
    return path


def clear_pending(session: BridgedSession) -> None:
    """Nothing is awaited any more."""
    (session.folder / "pending").unlink(missing_ok=True)


if __name__ == "__main__":
    try:
        main(sys.stdin.buffer.read(), os.environ, speaks=(*sys.argv[1:], SPEAKS)[0])
    except Exception:  # noqa: BLE001
        # A hook that fails would disturb the agent.
        os._exit(0)
