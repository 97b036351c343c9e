"""What an agent CLI runs at its events: leaves the payload for the node, or brings it and waits for the answer.

A single file for `python3 -I -S`, run in its compiled form: it imports nothing of ours, and nothing slow.

    program.py report <event>    leaves the payload in the spool, where the node finds it, at once or when it is back
    program.py ask <event>       brings the payload and prints the answer; over a restart of the node it asks again

A third word, `installed`, is said by hooks in a person's own settings: they leave sessions alone that have theirs.

The session's variables say where: FARHAND_SOCKET, FARHAND_WORKER, FARHAND_SPOOL, FARHAND_ASK_SECONDS.
Without them the session is not ours, and the program says nothing.
"""

# `os` alone would take as long as all the rest: its system calls are in `posix`.
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

AGAIN_SECONDS = 0.4
GRACE_SECONDS = 15.0
LONGEST_ADDRESS = 100
LONGEST_PAYLOAD = 32 * 1024 * 1024
# What is printed when nobody could be asked: a question without an answer is a no.
REFUSALS = {
    "PermissionRequest": b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":'
    b'{"behavior":"deny","message":"Nobody could be asked in time, so the answer is no."}}}',
}


def main(mode: str, event: str, given: str = "") -> None:
    """Always ends well: a hook that fails would disturb the agent."""
    payload = read_all(0)
    if given == "installed" and variable("FARHAND_HOOKS") == "session":
        # The session brought its own hooks: once is enough.
        return
    socket_path, worker = variable("FARHAND_SOCKET"), variable("FARHAND_WORKER")
    if not socket_path or not worker:
        return
    name = f"{time.time_ns()}-{posix.getpid()}-{int.from_bytes(posix.urandom(4), 'big')}"
    if mode == "ask":
        ask(socket_path, request_head(event, worker, name, len(payload)) + payload, event)
    else:
        spool(variable("FARHAND_SPOOL"), f"{name}.{agent()}.{event}.json", payload)


def agent() -> str:
    """The process of the agent that runs us."""
    # A CLI that runs hooks in a shell names itself in a variable; its driver says in which.
    named = variable(variable("FARHAND_PID_FROM"))
    return named if named.isdigit() else str(posix.getppid())


def request_head(event: str, worker: str, name: str, length: int) -> bytes:
    """A plain HTTP request: the node's socket speaks nothing else."""
    lines = [
        "POST /hooks/ask HTTP/1.1",
        "Host: farhand",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {length}",
        f"X-Farhand-Event: {event}",
        f"X-Farhand-Worker: {worker}",
        f"X-Farhand-Agent: {agent()}",
        f"X-Farhand-Id: {name}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def ask(socket_path: str, request: bytes, event: str) -> None:
    """Retries until there is an answer, the deadline has passed, or the agent itself is gone."""
    seconds = variable("FARHAND_ASK_SECONDS")
    deadline = time.monotonic() + (float(seconds) if seconds.replace(".", "", 1).isdigit() else 3600.0) + GRACE_SECONDS
    parent = posix.getppid()
    while time.monotonic() < deadline and posix.getppid() == parent:
        answer = exchange(socket_path, request, deadline - time.monotonic())
        if answer is not None and answer[0] < 500:
            if answer[0] == 200:
                write_all(1, answer[1])
            return
        time.sleep(AGAIN_SECONDS)
    write_all(1, REFUSALS.get(event, b""))


def exchange(socket_path: str, request: bytes, seconds: float) -> tuple[int, bytes] | None:
    """Sends the request; (status, body), or None when the whole answer did not come."""
    # A report needs no socket, and does not wait for one; the `socket` module would take three times as long.
    from _socket import AF_UNIX, SOCK_STREAM, socket

    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(max(0.1, seconds))
        connection.connect(reachable(socket_path))
        connection.sendall(request)
        return receive(connection)
    except (OSError, ValueError):
        return None
    finally:
        connection.close()


def reachable(path: str) -> str:
    """The path, or a short way to it: a socket's address holds about a hundred bytes."""
    if len(path.encode()) <= LONGEST_ADDRESS:
        return path
    folder, _, name = path.rpartition("/")
    return f"/proc/self/fd/{posix.open(folder, posix.O_RDONLY)}/{name}"


def receive(connection: "socket") -> tuple[int, bytes] | None:
    """The answer, as soon as it is whole; None when the node closes before."""
    response = b""
    while piece := connection.recv(65536):
        response += piece
        answer = parse(response)
        if answer is not None:
            return answer
    return None


def parse(response: bytes) -> tuple[int, bytes] | None:
    """Status and body; None unless the body is as long as the head says: half an answer is none."""
    head, separator, body = response.partition(b"\r\n\r\n")
    if not separator:
        return None
    lines = head.split(b"\r\n")
    status = int(lines[0].split()[1])
    length = 0
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    return (status, body) if len(body) == length else None


def spool(folder: str, name: str, payload: bytes) -> None:
    """Writes the payload to the spool (a queue of files) for the node; the file appears whole or not at all."""
    if not folder:
        return
    path = f"{folder}/{name}"
    try:
        make_folder(folder)
        descriptor = posix.open(path + ".new", posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600)
    except OSError:
        return
    try:
        write_all(descriptor, payload)
        posix.rename(path + ".new", path)
    except OSError:
        posix.unlink(path + ".new")


def make_folder(folder: str) -> None:
    """The spool, if it is not there yet; what it lies in is the node's own."""
    try:
        posix.mkdir(folder, 0o700)
    except FileExistsError:
        return


def variable(name: str) -> str:
    """A variable of the session, or ''."""
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def read_all(descriptor: int) -> bytes:
    """Everything up to the end, within reason."""
    pieces: list[bytes] = []
    length = 0
    while length < LONGEST_PAYLOAD:
        piece = posix.read(descriptor, 65536)
        if not piece:
            break
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


def write_all(descriptor: int, data: bytes) -> None:
    """All of it, however little is taken at a time."""
    while data:
        data = data[posix.write(descriptor, data) :]


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    except Exception:  # noqa: BLE001
        posix._exit(0)
    posix._exit(0)
