"""What stands behind `farhand remote --`: the flags that a hiring has a word for, and all the rest as it is."""

from __future__ import annotations

import pytest

from farhand import manifests
from farhand.cli.far_hub import checked_address, is_open
from farhand.cli.remote_node import agent_environment
from farhand.cli.remote_words import AgentWords, read_words
from farhand.model.errors import BadUsage
from farhand.model.present import Ask
from farhand.model.words import Choice, Mode
from farhand.remote.routes import _permits


def flags(package: str) -> dict[str, str]:
    return dict(manifests.manifest(manifests.DRIVERS, package).get("flags", {}))


READ = [
    ("gemini", "gemini", AgentWords(program="gemini")),
    ("gemini", "gemini -m pro --yolo", AgentWords(program="gemini", model="pro", mode=Mode.YOLO)),
    ("gemini", "gemini --approval-mode auto_edit", AgentWords(program="gemini", mode=Mode.AUTO_EDIT)),
    ("gemini", "gemini --approval-mode=plan", AgentWords(program="gemini", mode=Mode.PLAN)),
    ("gemini", "gemini --approval-mode odd", AgentWords(program="gemini", arguments=("--approval-mode", "odd"))),
    ("gemini", "gemini --debug -- -y", AgentWords(program="gemini", arguments=("--debug", "--", "-y"))),
    ("claude", "claude --model=opus", AgentWords(program="claude", model="opus")),
    ("claude", "claude --permission-mode plan x", AgentWords(program="claude", mode=Mode.PLAN, arguments=("x",))),
    ("claude", "claude --dangerously-skip-permissions", AgentWords(program="claude", mode=Mode.YOLO)),
    ("codex", "codex --yolo --search", AgentWords(program="codex", mode=Mode.YOLO, arguments=("--search",))),
    (
        "opencode",
        "opencode -m a/b --agent plan",
        AgentWords(program="opencode", model="a/b", arguments=("--agent", "plan")),
    ),
    ("gemini", "gemini --model", AgentWords(program="gemini", arguments=("--model",))),
]


@pytest.mark.parametrize(("package", "line", "read"), READ, ids=[line for _, line, _ in READ])
def test_flags_that_a_hiring_has_a_word_for_are_taken(package: str, line: str, read: AgentWords) -> None:
    assert read_words(line.split(), flags(package)) == read


def test_every_flag_names_a_mode_that_there_is() -> None:
    found = [Mode(mode) for package in manifests.packages() for mode in flags(package).values()]
    assert Mode.YOLO in found


def test_the_agent_has_the_persons_variables_and_no_secret_of_a_node() -> None:
    given = {
        "HOME": "/home/ann",
        "MY_TOOL": "1",
        "TELEGRAM_BOT_TOKEN": "t",
        "FARHAND_REMOTE_KEY": "k",
        "FARHAND_HOME": "/f",
        "TERM": "xterm-kitty",
        "TMUX": "/tmp/x,1,0",
        "GEMINI_CLI_REMOTE_PORT": "3000",
        "BASH_FUNC_f%%": "() { :; }",
        "ODD": "a\nb",
    }
    assert agent_environment(given) == {"HOME": "/home/ann", "MY_TOOL": "1", "TERM": "tmux-256color"}


@pytest.mark.parametrize("url", ["node.example", "ftp://node.example", "http://", "http://[", "http://a:0"])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(BadUsage):
        checked_address(url)


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://node.example", False),
        ("http://127.0.0.1:8081", False),
        ("http://localhost", False),
        ("http://[::1]:1", False),
        ("http://192.168.1.4:8081", True),
        ("http://node.example", True),
    ],
)
def test_a_key_that_travels_in_the_open_is_told(address: str, plain: bool) -> None:
    assert is_open(checked_address(address)) is plain


@pytest.mark.parametrize("choice", ["yes", "no,yes", "no, yes", " yes", "no ,yes "])
def test_an_answer_of_several_permits_however_it_is_spaced(choice: str) -> None:
    choices = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))
    ask = Ask(id="a", worker="ann", turn=None, seq=1, question="May I?", choices=choices, several=True)
    assert _permits((ask,), "a", choice)
    assert not _permits((ask,), "a", "no , no")
