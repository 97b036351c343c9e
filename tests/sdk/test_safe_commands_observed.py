"""Whatever runs without a question is run by real bash and as it would be run, and watched: it only reads inside."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.sdk.shell_lines import ESCAPES, SAFE
from tests.sdk.shell_world import ShellWorld

from farhand.sdk.policies import Judge, Surroundings
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.policies.safe_commands import safe_environment
from farhand.sdk.protocols import ToolCall

GENERATED = 8000
SEED = 20261116
NAMES = """
cat cd cut echo expr grep head id ls nl numfmt paste pwd rev seq stat tail tr uname uniq wc which whoami tac base64
find git git git rg sed sort awk tee cp env ./cat /bin/cat /usr/bin/git
""".split()
OPTIONS = """
-n -l -r -R -L -H -i -e -f -o -c -v -a -A -1 -5 -x -z -w -d -s -p -u -C -la -rn -nf -hf -rR -- - --follow --output
--output=out --out=out --file=in.txt --color --color=never --recursive --lines=1 --bytes=2 --files0-from=in.txt
--exclude-from=in.txt --include=*.py --no-index --ext-diff --textconv --cached --stat --oneline --show-signature
--format=%H --format=%G? --pretty=oneline --all --git-dir=.git --pre=./trap --hostname-bin=./trap --no-config
-exec -delete -print -print0 -fprint -fls -name -type -newer -maxdepth -regex -ok ; + {} ( ) ! -follow
""".split()
SUBCOMMANDS = "status log diff show branch stash config fetch blame grep archive".split()
PLAIN = (
    "in.txt src src/a.py . HEAD HEAD~1 HEAD:in.txt main main..main needle 1 2,3p 1p f x=y .git/config trap sh".split()
)
OPERANDS = (
    r"""
..|'with blank.txt'|"with blank.txt"|link|folder|folder/key|../outside/key|../outside|/etc/hostname|~/.ssh/id_rsa
$HOME/.ssh/id_rsa|*.txt|l*|fold*/key|{in.txt,../outside/key}|{a,b}|'a b'|gitlink/config|\;|`id`|$(id)|<(id)|>out
>>in.txt|2>&1|2>err|&>out|<in.txt|<<<x|"| tee out"|; id|&& id|& id|in\.txt|$'in.txt'|"$HOME"|'{a,b}'|'*.py'|a\ b
""".strip()
    .replace("\n", "|")
    .split("|")
)


def generated(number: int) -> Iterator[str]:
    """Lines of commands, options and operands that go together, or not at all."""
    chance = random.Random(SEED)
    for _ in range(number):
        name = chance.choice(NAMES)
        words = [name]
        if name.endswith("git") and chance.random() < 0.9:
            words.append(chance.choice(SUBCOMMANDS))
        pools = chance.choices((PLAIN, OPTIONS, OPERANDS), (5, 4, 3), k=chance.randrange(5))
        words += [chance.choice(pool) for pool in pools]
        yield chance.choice((" ", " ", " ", "  ", "\t")).join(words)


def allowed(world: ShellWorld, lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Those that would run without a question, and what would be run."""
    judge = Judge(default_rules())
    found = {}
    for line in lines:
        ruling = judge.decide(ToolCall("1", "run_shell_command", {"command": line}), Surroundings(cwd=world.workspace))
        if ruling.decision == "allow":
            found[line] = ruling.argv
    return found


WATCHED = "openat,open,creat,execve,execveat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat"
WATCHED += ",symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,fchownat,truncate,ftruncate,mknod,mknodat,utimensat"
WATCHED += ",connect,sendto,bind,setxattr,kill"
# Runs every list of arguments that it is given, one after the other; opens a file that tells which one comes.
RUNNER = """
import json, os, subprocess, sys
for number, argv in enumerate(json.load(sys.stdin)):
    try: os.close(os.open(f"/nowhere/{number}", os.O_RDONLY))
    except OSError: pass
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
"""
# The same for lines, in one bash: each in a process of its own that knows nothing of the lines before it.
SHELL = """
number=0
while IFS= read -r -d '' line <&9; do
    { : </nowhere/$number; } 2>/dev/null
    (exec 9<&-; unset number; eval "unset line; $line") </dev/null >/dev/null 2>&1
    number=$((number + 1))
done 9<&0
"""
MARK = re.compile(r'"/nowhere/(\d+)"')
OPENED = re.compile(r"open(?:at)?\(.*?(?P<flags>O_[A-Z_|]+).*\) += (?P<number>\d+)(?:<(?P<path>[^>]*)>)?")
EXECUTED = re.compile(r'execve\("(?P<path>[^"]*)".*\) += 0')
DONE = re.compile(r"\) += \d+")
HARMLESS_TARGETS = ("/dev/null", "/dev/tty")


def escapes(
    world: ShellWorld, runs: Sequence[tuple[str, Sequence[str]]], environment: dict[str, str], log: Path
) -> list[str]:
    """What was seen that is more than reading inside the workspace, with the line that did it."""
    import json

    told = json.dumps([list(argv) for _, argv in runs]).encode()
    watch([sys.executable, "-S", "-E", "-c", RUNNER], told, world, environment, log)
    return complaints(world, runs, log)


def escapes_by_bash(world: ShellWorld, lines: Sequence[str], environment: dict[str, str], log: Path) -> list[str]:
    """The same of lines that a bash reads."""
    told = "".join(f"{line}\0" for line in lines).encode()
    watch(["bash", "-c", SHELL], told, world, environment, log)
    return complaints(world, [(line, ("bash", "-c", line)) for line in lines], log)


def watch(command: list[str], told: bytes, world: ShellWorld, environment: dict[str, str], log: Path) -> None:
    """Runs the command in the workspace; strace writes down what it and all its children do."""
    strace = ["strace", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "300", "-e", f"trace={WATCHED}"]
    strace += ["-e", "signal=none", "-o", str(log)]
    subprocess.run([*strace, *command], input=told, cwd=world.workspace, env=environment, check=True)


def complaints(world: ShellWorld, runs: Sequence[tuple[str, Sequence[str]]], log: Path) -> list[str]:
    """What strace wrote down that is more than reading inside the workspace."""
    found: list[str] = []
    current, seen = -1, 0
    for call in whole_calls(log.read_text(errors="replace").splitlines()):
        if mark := MARK.search(call):
            current, seen = int(mark[1]), seen + 1
        elif current >= 0 and (why := _complaint(world, call, runs[current][1])):
            found.append(f"{runs[current][0]!r}: {why}: {call[:200]}")
    assert seen == len(runs)
    return found


UNFINISHED = re.compile(r"(?P<process>\d+) +(?P<begin>.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"(?P<process>\d+) +<\.\.\. \w+ resumed>(?P<rest>.*)$")


def whole_calls(lines: Iterable[str]) -> Iterator[str]:
    """Each call on one line, when it is over: strace writes one that another process's came between in two parts."""
    begun: dict[str, str] = {}
    for line in lines:
        if found := UNFINISHED.match(line):
            begun[found["process"]] = found["begin"]
        elif found := RESUMED.match(line):
            yield f"{found['process']} {begun.pop(found['process'])}{found['rest']}"
        else:
            yield line


# What programs open to start, and to know their language, their time, their users and their terminals.
STARTS = """
/etc/ld.so.cache /etc/ld.so.preload /etc/locale.alias /etc/nsswitch.conf /etc/passwd /etc/group /etc/gitconfig
""".split()
STARTS_BELOW = tuple(
    """
/usr/lib/ /lib/ /lib64/ /usr/lib64/ /usr/share/locale/ /usr/share/terminfo/ /usr/share/zoneinfo/ /proc/ /dev/
/usr/bin/ /bin/
""".split()
)


def _is_outside(world: ShellWorld, path: str) -> bool:
    """Whether a file was opened that is neither in the workspace nor needed to start."""
    inside = path == str(world.workspace) or path.startswith(f"{world.workspace}/")
    return not (inside or path in STARTS or path.startswith(STARTS_BELOW))


def _complaint(world: ShellWorld, call: str, argv: Sequence[str]) -> str:
    if opened := OPENED.search(call):
        path = opened["path"] or ""
        writes = any(flag in opened["flags"] for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"))
        if writes and path not in HARMLESS_TARGETS:
            return "wrote"
        # With O_PATH a name is looked up, and nothing is read.
        return "read outside" if "O_PATH" not in call and _is_outside(world, path) else ""
    if executed := EXECUTED.search(call):
        folder, _, name = executed["path"].rpartition("/")
        words = argv[-1].split() if argv[0] == "bash" else argv
        wanted = {"bash" if argv[0] == "bash" else "", words[0].rpartition("/")[2].strip("'")}
        # `which` is a script of the system's.
        wanted |= {"sh", "dash"} if "which" in wanted else set()
        return "" if folder in ("/usr/bin", "/bin") and name in wanted else "ran"
    if "open" in call.split("(", maxsplit=1)[0]:
        return ""
    return "did" if DONE.search(call) else ""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")
def test_what_runs_without_a_question_only_reads_inside(tmp_path: Path) -> None:
    world = ShellWorld(tmp_path)
    lines = list(dict.fromkeys([*SAFE, *ESCAPES, *generated(GENERATED)]))
    found = allowed(world, lines)
    assert len(lines) > 5000
    assert set(SAFE) <= set(found)
    # Enough of them are allowed that the watch has something to see.
    assert len(found) > 300
    before = world.everything()
    assert escapes(world, list(found.items()), safe_environment(world.environment), tmp_path / "argv.log") == []
    # Also by a shell, as the line was meant; git alone relies on what is added to its arguments.
    by_bash = [line for line in found if "git" not in line.split()[0]]
    assert escapes_by_bash(world, by_bash, world.environment, tmp_path / "bash.log") == []
    logs = {str(tmp_path / name) for name in ("argv.log", "bash.log")}
    assert {path: told for path, told in world.everything().items() if path not in logs} == before


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")
@pytest.mark.parametrize(
    "line",
    [
        "touch new",
        "cat /etc/hostname",
        "cat /etc/shadow",
        "ls /",
        "cat ../outside/key",
        "sh -c id",
        "./trap",
        "rm in.txt",
        "cat folder/key",
        r"find . -exec id \;",
    ],
)
def test_the_watch_sees_what_it_is_for(tmp_path: Path, line: str) -> None:
    world = ShellWorld(tmp_path)
    assert escapes_by_bash(world, [line], world.environment, tmp_path / "log")


def test_a_call_that_another_came_between_is_seen_whole() -> None:
    lines = [
        '7 openat(AT_FDCWD</w>, "/etc/hostname", O_RDONLY <unfinished ...>',
        '8 openat(AT_FDCWD</w>, "in.txt", O_RDONLY) = 3</w/in.txt>',
        "7 <... openat resumed>) = 3</etc/hostname>",
    ]
    assert [found["path"] for call in whole_calls(lines) if (found := OPENED.search(call))] == [
        "/w/in.txt",
        "/etc/hostname",
    ]
