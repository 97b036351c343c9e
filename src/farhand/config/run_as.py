"""The user whom agents run as when it is not the node's own (`FARHAND_RUN_AS`), and what of the node it could reach."""

import grp
import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from farhand.model.errors import SettingWrong

NAME = "FARHAND_RUN_AS"
# Whoever is in one of these is as good as root.
POWERFUL = frozenset("root sudo wheel admin docker lxd libvirt disk shadow".split())
# Of the node's own session, and nothing to another user.
_OWN = ("XDG_", "SSH_AUTH_SOCK", "TMPDIR", "MAIL", "TMUX")
SYSTEM_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True)
class AgentUser:
    """A user of this machine, as the system knows them."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str

    @property
    def groups(self) -> list[int]:
        """All groups that the user is in."""
        return os.getgrouplist(self.name, self.gid)

    def can_read(self, path: Path) -> bool:
        """Whether this user could read that file itself, as the modes of it and of the folders above say."""
        try:
            above = all(self._may(one.stat(), 0o1) for one in path.parents)
            return above and self._may(path.stat(), 0o4)
        except OSError:
            return False

    def _may(self, about: os.stat_result, right: int) -> bool:
        if about.st_uid == self.uid:
            return bool(about.st_mode & right << 6)
        return bool(about.st_mode & (right << 3 if about.st_gid in self.groups else right))

    def may_change(self, path: Path) -> bool:
        """Whether this user could put something else there, as the modes of it and of the folders above say."""
        real = path.resolve()
        for one in dict.fromkeys((path, *path.parents, real, *real.parents)):
            try:
                about = one.stat()
            except OSError:
                continue
            # In a folder such as /tmp only what is one's own can be changed.
            is_shared = one not in (path, real) and bool(about.st_mode & stat.S_ISVTX)
            if about.st_uid == self.uid or (not is_shared and self._may(about, 0o2)):
                return True
        return False

    def own_path(self, path: str) -> str:
        """Of the folders in which programs are looked for, those in which this user can change nothing."""
        return os.pathsep.join(one for one in path.split(os.pathsep) if one and not self.may_change(Path(one)))

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """An agent's environment in that user's own home, without what belongs to the node's session."""
        kept = {name: value for name, value in given.items() if not name.startswith(_OWN)}
        return {**kept, "HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell}

    def run(
        self, words: Iterable[str], environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a small program as that user; only root can."""
        return subprocess.run(
            list(words),
            cwd="/",
            env=environment or {"PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=20,
            user=self.uid,
            group=self.gid,
            extra_groups=self.groups,
        )

    def reaches(self, paths: Iterable[Path], test: str = "-r") -> list[Path]:
        """Those of the paths that the user can read (`-r`), write (`-w`) or enter (`-x`), as the kernel decides."""
        program = f'for path; do [ {test} "$path" ] && printf "%s\\n" "$path"; done; true'
        done = self.run(["/bin/sh", "-c", program, "sh", *map(str, paths)])
        return [Path(line) for line in done.stdout.splitlines()]


def owner_of(program: Path) -> AgentUser | None:
    """The user other than root who can put something else in that program's place; None where root alone can."""
    real = program.resolve()
    for one in dict.fromkeys((program, *program.parents, real, *real.parents)):
        uid = one.lstat().st_uid
        if uid != 0:
            found = pwd.getpwuid(uid)
            return AgentUser(found.pw_name, uid, found.pw_gid, found.pw_dir, found.pw_shell)
    return None


def agent_user(name: str) -> AgentUser | None:
    """The user of that name, None for an empty one; SettingWrong where agents cannot run as that user."""
    if not name:
        return None
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise SettingWrong(f"{NAME}: there is no user '{name[:40]}' on this machine.", name=NAME) from None
    if os.geteuid() != 0:
        raise SettingWrong(
            f"{NAME} needs a node that runs as root: only root can start and stop another user's agents.",
            name=NAME,
        )
    if found.pw_uid == 0:
        raise SettingWrong(f"{NAME}: '{name}' is root, which contains nothing.", name=NAME)
    shell = found.pw_shell if Path(found.pw_shell).name not in ("nologin", "false", "") else "/bin/sh"
    return AgentUser(name, found.pw_uid, found.pw_gid, found.pw_dir, shell)


def interpreter(user: AgentUser | None, own: str = sys.executable) -> str:
    """The Python that agents of ours run in: this one, or the system's where the user cannot reach this one."""
    if user is None or user.reaches([Path(own)], "-x"):
        return own
    return SYSTEM_PYTHON


def findings(user: AgentUser, secret: Iterable[Path], workplaces: Iterable[Path] = (), path: str = "") -> list[str]:
    """What is wrong with that user for containing agents, a sentence each; nothing when all is well.

    `secret` are paths of the node that no agent may reach, `workplaces` those in which agents are to work, `path` where
    programs are looked for."""
    found = [f"{user.name} can reach {path}: chmod go-rwx {path}" for path in user.reaches(secret)]
    names = {grp.getgrgid(number).gr_name for number in user.groups if _has_name(number)}
    found += [f"{user.name} is in the group {name}, which is as good as root." for name in sorted(names & POWERFUL)]
    homes = [Path(user.home)]
    if not user.reaches(homes, "-w"):
        found.append(
            f"{user.name} has no home to write to ({user.home}); agents keep their settings and sessions there."
        )
    kept = user.own_path(path).split(os.pathsep)
    found += [
        f"{user.name} can change what is in {one}, which is on the PATH: the node itself runs nothing there."
        for one in path.split(os.pathsep)
        if one and one not in kept
    ]
    places = list(workplaces)
    reached = set(user.reaches(places, "-x"))
    found += [f"{user.name} cannot enter {path}, where agents work." for path in places if path not in reached]
    if interpreter(user) == SYSTEM_PYTHON and not shutil.which(SYSTEM_PYTHON):
        found.append(f"{user.name} can run neither {sys.executable} nor {SYSTEM_PYTHON}, which some agents need.")
    return found


def _has_name(group: int) -> bool:
    try:
        grp.getgrgid(group)
    except KeyError:
        return False
    return True
