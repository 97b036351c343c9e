"""The agent's process: fork and exec, its identity against reuse of its pid, and its exit."""
# Pathlib and subprocess would cost memory that every holder pays.

from __future__ import annotations

import errno
import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctypes import CDLL

    from farhand.sandbox.holding.files import Json

ERR_LIMIT = 256 * 1024
REPORT_LIMIT = 4096
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38


class ChildNotStarted(Exception):
    """The child could not be started: what failed, and why."""

    def __init__(self, what: str, number: int, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.report: Json = {"error": what, "errno": number, "why": why}


class Order:
    """What to run: the program, its folder, and the whole of its environment."""

    def __init__(self, said: object) -> None:
        if not isinstance(said, dict):
            raise ChildNotStarted("order", errno.EINVAL, "order.json is no object")
        argv, env, limit = said.get("argv"), said.get("env"), said.get("err_limit")
        if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
            raise ChildNotStarted("order", errno.EINVAL, "'argv' is a list of at least one string")
        if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
            raise ChildNotStarted("order", errno.EINVAL, "'env' is an object of strings")
        self.argv: list[str] = argv
        self.env: dict[str, str] = env
        self.cwd = str(said.get("cwd", "/"))
        self.user = wanted_user(said.get("user"))
        # Whether it ends with whoever started it: that one is gone when our standard input is at its end.
        self.owned = said.get("owned") is True
        self.err_limit = max(2, limit) if isinstance(limit, int) else ERR_LIMIT


def wanted_user(said: object) -> tuple[int, int, list[int]] | None:
    """Whom the child becomes: a user's number, its group's, and all its groups'; None for whoever holds it."""
    if said is None:
        return None
    if isinstance(said, list) and len(said) == 3 and isinstance(said[2], list):
        user, group, groups = said
        if all(isinstance(one, int) for one in (user, group, *groups)):
            return user, group, groups
    raise ChildNotStarted("order", errno.EINVAL, "'user' is a user, a group and a list of groups, by number")


class Child:
    """The leader of its own session, with pipes for its three streams."""

    def __init__(self, order: Order, umask: int) -> None:
        ends = [os.pipe() for _ in range(3)]
        report, reporter = os.pipe()
        theirs = (ends[0][0], ends[1][1], ends[2][1])
        holder = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            become(order, umask, holder, theirs, reporter)
        for descriptor in (*theirs, reporter):
            os.close(descriptor)
        self.stdin, self.stdout, self.stderr = ends[0][1], ends[1][0], ends[2][0]
        self._read_report(report)
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)

    def _read_report(self, report: int) -> None:
        """The pipe closes on exec; otherwise it has the error. Raises ChildNotStarted with that."""
        said = os.read(report, REPORT_LIMIT)
        os.close(report)
        if said:
            os.waitpid(self.pid, 0)
            what, number, why = said.decode().split(":", 2)
            raise ChildNotStarted(what, int(number), why)

    def ended(self) -> Json | None:
        """How it ended. It stays a zombie until the holder leaves, so that its number names nobody else."""
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        by_itself = found.si_code == os.CLD_EXITED
        return {"code": found.si_status if by_itself else None, "signal": None if by_itself else found.si_status}

    def signal(self, number: int) -> None:
        """To the child's whole process group."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # nobody of the group is left, or what is left became another user's

    def reap(self) -> None:
        os.waitpid(self.pid, 0)

    def life(self) -> Json:
        """What tells this process from a later one with the same number."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as stat:
                ticks = int(stat.read().rpartition(b")")[2].split()[19])
            with open("/proc/sys/kernel/random/boot_id") as boot:
                boot_id = boot.read().strip()
        except (OSError, ValueError, IndexError):
            ticks, boot_id = None, None
        return {"holder": os.getpid(), "child": self.pid, "ticks": ticks, "boot": boot_id, "at": time.time()}


def become(order: Order, umask: int, holder: int, streams: tuple[int, int, int], reporter: int) -> None:
    """In the forked process: turn into the ordered program, or report why not. Never returns."""
    step = "user"
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        # Loaded before the user changes, who may not be able to read this interpreter's files.
        library = load_library()
        if order.user is not None:
            change_user(library, *order.user)
        # Only now: the kernel forgets this when the user changes.
        die_with(library, holder)
        step = "cwd"
        for target, descriptor in enumerate(streams):
            os.dup2(descriptor, target)
        os.umask(umask)
        os.chdir(order.cwd)
        step = "program"
        os.execvpe(order.argv[0], order.argv, order.env)
    except OSError as error:
        os.write(reporter, f"{step}:{error.errno}:{error.strerror}".encode())
    except ValueError as error:
        os.write(reporter, f"{step}:{errno.EINVAL}:{error}".encode())
    finally:
        os._exit(127)


def load_library() -> CDLL | None:
    """The system's own library; here, in the child that is about to become another program: the holder never pays."""
    try:
        import ctypes

        return ctypes.CDLL(None)
    except (ImportError, OSError):
        return None


def change_user(library: CDLL | None, user: int, group: int, groups: list[int]) -> None:
    """Becomes that user for good: no program that is run from here on can get more rights, nor these ones back."""
    os.setgroups(groups)
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)
    if library is not None:
        library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def die_with(library: CDLL | None, holder: int) -> None:
    """Have the kernel kill this process when the holder dies. Where it cannot, the end of stdin has to do."""
    if library is None or not hasattr(library, "prctl"):
        return
    library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != holder:
        os._exit(127)
