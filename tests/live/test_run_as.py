"""Agents as another user: they work, and reach neither the node's folder, nor the hub, nor the manager's tmux."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.conftest import PROGRAMS

from farhand import app, roster
from farhand.channels.files.worker_files import WorkerFiles
from farhand.channels.kit.media import keep
from farhand.cli.agent_clis import agent_clis, catalogue_clis
from farhand.config.run_as import AgentUser, agent_user, findings, interpreter
from farhand.config.settings import Settings
from farhand.core.clock import SystemClock
from farhand.drivers.wires.tmux.death import ended
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire
from farhand.model.errors import BadInput, DriverError, SettingWrong
from farhand.model.facts import CameOnline, TurnEnded
from farhand.model.words import HowEnded, Mode
from farhand.sandbox.holders import LocalHolders
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import SAFETY_SECONDS, House, settings_in
from farhand.testing.models.script import say, use
from farhand.testing.scripted import ScriptedDriver

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can run somebody else's agents"),
]
NOBODY = pwd.getpwnam("nobody")
# What another user's agents run lies in this checkout; below a home of mode 0700 nobody else can reach it.
in_an_open_checkout = pytest.mark.skipif(
    not all(one.stat().st_mode & stat.S_IXOTH for one in Path(__file__).resolve().parents),
    reason="another user cannot get into the folder of this checkout",
)
# Everything that an agent must not get at; each line says what it could do.
PROBE = """#!/bin/sh
id -u
for path in "$@"; do
  cat "$path" >/dev/null 2>&1 && echo "read $path"
  ls "$path" >/dev/null 2>&1 && echo "listed $path"
done
for key in "" "Authorization: Bearer $FARHAND_WORKER_KEY"; do
  bash -c 'exec 3<>/dev/tcp/127.0.0.1/$0
    printf "GET /workers HTTP/1.0\\r\\nHost: localhost\\r\\n%s\\r\\n\\r\\n" "$1" >&3
    read -r _ code _ <&3; echo "http $code"' "$PORT" "$key" 2>/dev/null
done
/usr/bin/python3 - "$1/hub.sock" <<'END'
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    print("connected")
except OSError:
    pass
END
tmux -S "$TMUX_SOCKET" list-sessions 2>/dev/null && echo "in tmux"
kill -0 "$NODE" 2>/dev/null && echo "signalled"
cat "/proc/$NODE/environ" >/dev/null 2>&1 && echo "read environ"
true
"""


def files_alone(context: ChannelContext) -> list[Channel]:
    """The routes for workers' programs, and no chat."""
    return roster.build_channels(context, without={"telegram"})


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody can enter: pytest's own are root's alone."""
    folder = Path(tempfile.mkdtemp(prefix="fh-run-as-", dir="/tmp"))
    folder.chmod(0o755)
    for name in ("home", "project"):
        (folder / name).mkdir(mode=0o700)
        os.chown(folder / name, NOBODY.pw_uid, NOBODY.pw_gid)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def user(place: Path) -> AgentUser:
    return AgentUser("nobody", NOBODY.pw_uid, NOBODY.pw_gid, str(place / "home"), "/bin/sh")


def settings_as(user: AgentUser, tmp_path: Path, environment: dict[str, str]) -> Settings:
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    own = {"HOME": str(tmp_path), "PATH": path, "LANG": "C.UTF-8", **environment}
    settings = replace(settings_in(tmp_path), agent_user=user, root_yolo=False, environment=own)
    settings.folder.mkdir(mode=0o700)
    return settings


async def work(house: House, backend: str, place: Path, text: str) -> TurnEnded:
    command = Hire(id=house.id(), worker="ann", backend=backend, directory=str(place / "project"), mode=Mode.YOLO)
    # As the node itself hires: nobody is welcomed.
    await house.send(command, via="node")
    await house.fact(CameOnline)
    await house.say(text, worker="ann")
    return await house.fact(TurnEnded)


@in_an_open_checkout
async def test_an_agent_of_another_user_works_and_reaches_nothing(
    user: AgentUser, place: Path, tmp_path: Path, cli_env: ClaudeEnv
) -> None:
    model, address = cli_env.model, cli_env.environment["ANTHROPIC_BASE_URL"]
    tmux_server = cli_env.server
    variables = {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "sk-ant-fake-" + "0" * 60,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    settings = settings_as(user, tmp_path, variables)
    probe = place / "probe.sh"
    probe.write_text(PROBE)
    probe.chmod(0o755)
    socket = tmux_server[tmux_server.index("-S") + 1]
    async with app.node(settings, roster.drivers(settings), files_alone, SystemClock()) as running:
        secret = " ".join(
            map(str, [settings.folder, settings.store, settings.key, settings.holders, Path(socket).parent])
        )
        line = f"PORT={running.port} NODE={os.getpid()} TMUX_SOCKET={socket} {probe} {secret} > found.txt; id -un"
        model.script.conversation("zz-work", use("Bash", command=line, description="Look around"), say("done"))
        house = House(running, ScriptedDriver(), SystemClock())
        turn = await work(house, "claude", place, "zz-work")
        assert turn.how is HowEnded.COMPLETED, turn
        found = place / "project" / "found.txt"
        assert found.read_text().split("\n")[:-1] == [str(NOBODY.pw_uid), "http 403", "http 200"]
        assert found.stat().st_uid == NOBODY.pw_uid
        assert running.status()["run_as"] == "nobody"
        with pytest.raises(BadInput, match="has no wire 'tmux'"):
            await house.send(Hire(id=house.id(), worker="bob", backend="claude", options={"wire": "tmux"}))
    await forget_all(settings)


@in_an_open_checkout
async def test_an_agent_of_our_own_works_as_another_user(user: AgentUser, place: Path, tmp_path: Path) -> None:
    settings = settings_as(user, tmp_path, {})
    async with app.node(settings, roster.drivers(settings), files_alone, SystemClock()) as running:
        house = House(running, ScriptedDriver(), SystemClock())
        turn = await work(house, "demo", place, "hello")
        assert turn.how is HowEnded.COMPLETED
        held = await LocalHolders(settings.holders).names()
        child = json.loads((settings.holders / held[0] / "life").read_text())["child"]
        assert Path(f"/proc/{child}").stat().st_uid == NOBODY.pw_uid
        told = Path(f"/proc/{child}/status").read_text()
        assert "NoNewPrivs:\t1" in told
        assert f"Uid:\t{NOBODY.pw_uid}\t{NOBODY.pw_uid}\t{NOBODY.pw_uid}\t{NOBODY.pw_uid}" in told
        await house.end("ann")
        await house.until(lambda present: not present.workers)
        assert not Path(f"/proc/{child}").exists()
    await forget_all(settings)


async def test_an_agent_of_another_user_dies_with_its_holder(user: AgentUser, tmp_path: Path) -> None:
    holders = LocalHolders(tmp_path / "holders", user=(user.uid, user.gid, user.groups))
    environment = {"PATH": "/usr/bin:/bin"}
    async with await holders.start("one", ["sleep", "1000"], cwd=Path("/"), environment=environment) as held:
        life = json.loads((tmp_path / "holders" / "one" / "life").read_text())
        assert Path(f"/proc/{life['child']}").stat().st_uid == user.uid
        os.kill(life["holder"], signal.SIGKILL)
        with anyio.fail_after(SAFETY_SECONDS):
            await ended(life["child"])
        await held.wait_exit()
    with pytest.raises(DriverError, match="cannot work in"):
        await holders.start("two", ["true"], cwd=tmp_path, environment=environment)


async def forget_all(settings: Settings) -> None:
    holders = LocalHolders(settings.holders)
    for name in await holders.names():
        await holders.forget(name)


def test_what_the_manager_sends_is_readable_for_that_user_alone(user: AgentUser, place: Path) -> None:
    files = WorkerFiles(place / "sessions", place / "temporary", "test", user.gid)
    pipe, inbox = files.make_pipe("ann"), files.make_inbox("ann")
    keep(inbox / "picture.png", b"x")
    assert user.reaches([inbox, inbox / "picture.png", pipe, place / "temporary"]) == [inbox, inbox / "picture.png"]
    assert user.reaches([inbox, inbox / "picture.png"], "-w") == []
    assert (inbox / "picture.png").stat().st_mode & 0o007 == 0


def test_what_is_wrong_with_a_user_is_told(user: AgentUser, place: Path, tmp_path: Path) -> None:
    closed, opened = tmp_path / "closed", place / "open"
    closed.mkdir(mode=0o700)
    opened.mkdir(mode=0o755)
    assert findings(user, [closed], [place / "project"]) == []
    assert findings(user, [closed, opened]) == [f"nobody can reach {opened}: chmod go-rwx {opened}"]
    assert findings(user, [], [closed]) == [f"nobody cannot enter {closed}, where agents work."]
    homeless = replace(user, home="/nonexistent")
    assert [one for one in findings(homeless, []) if "has no home to write to" in one]
    assert interpreter(None) == sys.executable
    assert user.reaches([Path(interpreter(user))], "-x")


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("owned", ["file", "folder", "linked"])
def test_root_runs_no_program_of_that_user_as_root(place: Path, tmp_path: Path, owned: str, named: bool) -> None:
    """Whoever may write an agent's program would be root when somebody asks for its version."""
    programs, ran = place / "home/bin", place / "project/ran"
    programs.mkdir()
    for name in ("claude", "goose"):
        program = programs / name
        program.write_text(f"#!/bin/sh\necho $(id -u) $HOME >> {ran}\necho 2.3.4\n")
        program.chmod(0o755)
        os.chown(program, *((NOBODY.pw_uid, NOBODY.pw_gid) if owned == "file" else (0, 0)))
    if owned == "linked":
        linked = place / "bin"
        linked.mkdir()
        for name in ("claude", "goose"):
            (linked / name).symlink_to(programs / name)
        programs = linked
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": "/root", **({"FARHAND_RUN_AS": "nobody"} if named else {})}
    found = [*agent_clis(environ), *catalogue_clis(tmp_path, environ)]
    assert {one.backend for one in found if one.path} >= {"claude", "goose"}
    assert {line.split()[0] for line in ran.read_text().splitlines()} == {str(NOBODY.pw_uid)}


def test_the_node_runs_nothing_from_where_that_user_can_write(user: AgentUser, place: Path, tmp_path: Path) -> None:
    theirs = place / "home/bin"
    theirs.mkdir()
    settings = settings_as(user, tmp_path, {"PATH": f"{theirs}:/usr/bin:/bin"})
    assert settings.own_environment["PATH"] == "/usr/bin:/bin"
    assert settings.environment["PATH"] == f"{theirs}:/usr/bin:/bin"
    told = findings(user, [], path=settings.environment["PATH"])
    assert told == [f"nobody can change what is in {theirs}, which is on the PATH: the node itself runs nothing there."]


def test_users_who_contain_nothing_are_refused() -> None:
    assert agent_user("") is None
    for name, why in (("root", "is root"), ("no-such-user", "there is no user")):
        with pytest.raises(SettingWrong, match=why):
            agent_user(name)
    found = agent_user("nobody")
    assert found is not None
    assert (found.uid, found.shell) == (NOBODY.pw_uid, "/bin/sh")


def test_only_root_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SettingWrong, match="needs a node that runs as root"):
        agent_user("nobody")


def test_an_environment_in_another_home(user: AgentUser) -> None:
    given = {"HOME": "/root", "PATH": "/bin", "XDG_RUNTIME_DIR": "/run/user/0", "SSH_AUTH_SOCK": "/x", "USER": "root"}
    assert user.environment(given) == {
        "HOME": user.home,
        "PATH": "/bin",
        "USER": "nobody",
        "LOGNAME": "nobody",
        "SHELL": "/bin/sh",
    }
