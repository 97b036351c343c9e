"""Rules in code and in files: what they match, which of them wins, and how shell lines are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from farhand.sdk.policies import Judge, PolicyError, Rule, Surroundings, allow, deny, read_policies
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.policies.judge import BUILD_FILE, DANGEROUS, OUTSIDE, REDIRECTED, UNREADABLE, UNTRUSTED_GIT
from farhand.sdk.policies.rules import HARDNESS, MODES
from farhand.sdk.policies.shell import hidden, of_bare_words, parsed, scripts, taken_apart
from farhand.sdk.protocols import ToolCall


def shell(command: str, **more: Any) -> ToolCall:
    return ToolCall("1", "run_shell_command", {"command": command, **more})


def decided(rules: list[Rule], call: ToolCall, **around: Any) -> str:
    return Judge([*rules, *default_rules()]).decide(call, Surroundings(**around)).decision


def test_a_rule_in_code_wins_over_the_default_ones() -> None:
    call = ToolCall("1", "write_file", {"file_path": "a.txt"})
    assert decided([], call) == "ask"
    assert decided([allow("write_file")], call) == "allow"
    assert decided([deny("write_file"), allow("write_file")], call) == "deny"
    assert decided([deny("write_file"), allow("write_file", priority=501)], call) == "allow"


def test_a_predicate_looks_at_the_call_and_the_context() -> None:
    seen = []

    def small(call: ToolCall, context: Any) -> bool:
        seen.append((call.name, context))
        return len(call.arguments.get("content", "")) < 10

    rules = [allow("write_file", when=small)]
    assert decided(rules, ToolCall("1", "write_file", {"content": "x"})) == "allow"
    assert decided(rules, ToolCall("1", "write_file", {"content": "x" * 20})) == "ask"
    assert seen == [("write_file", None), ("write_file", None)]


def test_a_predicate_that_fails_never_opens_a_door() -> None:
    def broken(call: ToolCall, context: Any) -> bool:
        raise RuntimeError("oops")

    call = ToolCall("1", "write_file", {})
    assert decided([allow("write_file", when=broken)], call) == "ask"
    assert decided([deny("write_file", when=broken)], call) == "deny"


def test_tools_are_named_by_name_pattern_or_themselves() -> None:
    def add(a: int) -> int:
        return a

    assert decided([allow(add)], ToolCall("1", "add", {})) == "allow"
    assert decided([allow("one", "two")], ToolCall("1", "two", {})) == "allow"
    assert decided([allow("mcp_files_*")], ToolCall("1", "mcp_files_read", {})) == "allow"
    assert decided([allow("mcp_files_*")], ToolCall("1", "mcp_other_read", {})) == "ask"
    underlined = ToolCall("1", "mcp_my_files_read", {})
    assert decided([allow("mcp_my_files_*")], underlined) == "ask"
    assert decided([allow("mcp_my_files_*")], underlined, server="my_files") == "allow"
    with pytest.raises(PolicyError, match="needs the name of a tool"):
        allow(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"priority": 1000}, {"modes": "fast"}, {"arguments": "(a+)+"}, {"command": "("}])
def test_a_rule_that_cannot_be_used_says_so(bad: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        allow("x", **bad)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("ls && rm -rf /", DANGEROUS),
        ("echo $(sudo rm -rf /)", DANGEROUS),
        ("echo a > b", REDIRECTED),
        ("echo 'a", UNREADABLE),
        ("echo ${x@P}", UNREADABLE),
        ("ls " + "$(" * 600, UNREADABLE),
    ],
)
def test_an_allowed_shell_still_asks_for_this(command: str, reason: str) -> None:
    judge = Judge([allow("run_shell_command")])
    ruling = judge.decide(shell(command), Surroundings())
    assert (ruling.decision, ruling.reason) == ("ask", reason)
    assert judge.decide(shell(command), Surroundings(interactive=False)).decision == "deny"
    assert judge.decide(shell(command), Surroundings(mode="yolo")).decision == "allow"


@pytest.mark.parametrize(
    "command",
    ["rm x", "r\\\nm x", "'r'm x", "\\rm x", "/bin/rm x", "A=1 rm x", "sudo -n env B=2 rm x", "ls | xargs rm"],
)
def test_a_forbidden_command_does_not_hide(command: str) -> None:
    judge = Judge([deny("run_shell_command", prefix="rm"), allow("run_shell_command")])
    assert judge.decide(shell(command), Surroundings(mode="yolo")).decision == "deny"


def test_the_folder_of_a_command_counts(tmp_path: Path) -> None:
    judge = Judge([allow("run_shell_command")])
    around = Surroundings(cwd=tmp_path, trusted=False)
    assert judge.decide(shell("ls", dir_path=".."), around).reason == OUTSIDE
    assert judge.decide(shell("git log"), around).reason == UNTRUSTED_GIT
    assert judge.decide(shell("ls", dir_path="sub"), around).decision == "allow"


def test_a_rule_made_for_a_command_is_not_doubted() -> None:
    assert decided([allow("run_shell_command", prefix="rm")], shell("rm -rf build")) == "allow"
    assert decided([allow("run_shell_command", prefix="echo", redirection=True)], shell("echo a > b")) == "allow"


def test_a_pattern_that_allows_holds_for_the_start_of_the_command_only() -> None:
    assert decided([allow("run_shell_command", command="npm|yarn")], shell("yarn x")) == "allow"
    assert decided([allow("run_shell_command", command="npm|yarn")], shell("curl yarn")) == "ask"
    assert decided([deny("run_shell_command", command="npm|yarn")], shell("curl yarn")) == "deny"


def test_build_files_need_a_person_even_in_yolo() -> None:
    judge = Judge(default_rules())
    call = ToolCall("1", "write_file", {"file_path": "sub/package.json"})
    assert judge.decide(call, Surroundings(mode="yolo")).reason == BUILD_FILE
    assert judge.decide(call, Surroundings(mode="yolo", interactive=False)).decision == "deny"


def test_tools_that_can_never_run_are_known() -> None:
    judge = Judge([deny("glob"), allow("write_file", prefix="x"), deny("write_file"), *default_rules()])
    assert judge.hides("glob", Surroundings())
    assert not judge.hides("write_file", Surroundings())
    assert judge.hides("run_shell_command", Surroundings(mode="plan"))
    assert not judge.hides("read_file", Surroundings(mode="plan"))


# Files.


def test_a_file_of_rules(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        """
[[rule]]
toolName = ["write_file", "replace"]
argsPattern = '"file_path":"docs/'
decision = "allow"
priority = 100
modes = ["autoEdit", "default"]

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git", "npm run"]
decision = "deny"
priority = 7
denyMessage = "Not today."
"""
    )
    loaded = read_policies([tmp_path, tmp_path / "nowhere"], "user")
    assert loaded.complaints == ()
    assert [rule.priority for rule in loaded.rules] == [4.1, 4.007, 4.007]
    judge = Judge(loaded.rules)
    assert judge.decide(shell("npm run x"), Surroundings()).reason == "Not today."
    assert judge.decide(ToolCall("1", "replace", {"file_path": "docs/a"}), Surroundings()).decision == "allow"
    assert judge.decide(ToolCall("1", "replace", {"file_path": "docs/a"}), Surroundings("plan")).decision == "ask"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[rule]]\ndecision='allow'\npriority=1", "toolName is missing"),
        ("[[rule]]\ntoolName='x'\ndecision='maybe'\npriority=1", "decision should be"),
        ("[[rule]]\ntoolName='x'\ndecision='allow'", "priority should be"),
        ("[[rule]]\ntoolName='x'\ndecision='allow'\npriority=1000", "0 to 999"),
        ("[[rule]]\ntoolName='x'\ndecision='allow'\npriority=1\nmodes=['fast']", "no mode 'fast'"),
        ("[[rule]]\ntoolName='x'\ndecision='allow'\npriority=1\nargsPattern='('", "cannot be used"),
        ("[[rule]]\ntoolName='x'\ndecision='allow'\npriority=1\nargsPattern='(a+)+'", "for ever"),
        ("[[rule]]\ntoolName='x'\ndecision='allow'\npriority=1\ncommandPrefix='a'", "needs toolName"),
        ("[[rule]]\ntoolName=3\ndecision='allow'\npriority=1", "toolName should be"),
        ("[[rule]", "cannot be used"),
        (
            "[[safety_checker]]\ntoolName='x'\n[safety_checker.checker]\ntype='external'\nname='c'",
            "no checker external/c",
        ),
    ],
)
def test_a_bad_rule_costs_that_rule_and_is_told(tmp_path: Path, text: str, complaint: str) -> None:
    good = "[[rule]]\ntoolName='good'\ndecision='allow'\npriority=1\n"
    (tmp_path / "a.toml").write_text(good)
    (tmp_path / "b.toml").write_text(text)
    loaded = read_policies([tmp_path], "user")
    assert complaint in " ".join(loaded.complaints)
    assert loaded.rules[0].tools == ("good",)


def test_what_a_missing_checker_should_look_at_is_denied(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("[[safety_checker]]\ntoolName='x'\npriority=9\n[safety_checker.checker]\ntype='external'\nname='c'")
    assert Judge(read_policies([file], "user").rules).decide(ToolCall("1", "x", {}), Surroundings()).decision == "deny"


def test_an_extension_can_only_tighten(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    rule = "[[rule]]\ntoolName='x'\npriority=1\n"
    file.write_text(f"{rule}decision='allow'\n{rule}decision='deny'\nmodes=['yolo']\n{rule}decision='ask_user'\n")
    loaded = read_policies([file], "extension")
    assert [(found.decision, found.priority) for found in loaded.rules] == [("ask", 2.001)]
    assert len(loaded.complaints) == 2


# Shell lines.


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("ls -la && rm x | cat; (pwd)", ["ls -la", "rm x", "cat", "pwd"]),
        ("echo $(a $(b)) `c` <(d)", ["echo $(a $(b)) `c` <(d)", "a $(b)", "b", "c", "d"]),
        ("for f in *; do x; done; if y; then z; fi; f() { q; }", ["x", "y", "z", "q"]),
        ("cat <<EOF\n$(x)\nEOF", ["cat", "x"]),
        ("A=1; B=$(x) y", ["A=1", "B=$(x) y", "x"]),
        ("[ -f a ] && export A=1", ["[ -f a ]", "export A=1"]),
    ],
)
def test_every_command_of_a_line_is_found(line: str, commands: list[str]) -> None:
    found = taken_apart(line)
    assert ([command.text for command in found.commands], found.broken) == (commands, False)


# Names that mean something to a shell or its grammar, and pieces of words that may come next to one another.
BARE = (
    "if then elif else fi for while until do done case esac in select function time coproc declare typeset export"
    " readonly local unset unsetenv let test eval exec command builtin source . : trap return exit set shift break"
    " continue alias git ls -n -- - + % ^ @ , 2 20 a=b =x a= --x=1 a/b ./c ../d x:y A_B HEAD^ %1 a,b 1a b@c"
).split()


@example("time ls")
@example("export a=b")
@example("1%")
@example("b@c elif")
@example("- a= test")
@example("ls == b")
@settings(max_examples=1000)
@given(st.lists(st.sampled_from(BARE) | st.text("ab1_./,:@%+=^-", min_size=1, max_size=4), min_size=1).map(" ".join))
def test_a_line_of_bare_words_is_read_as_the_grammar_reads_it(line: str) -> None:
    assert of_bare_words(line) in (None, parsed(line))


def test_most_lines_of_bare_words_need_no_grammar() -> None:
    assert of_bare_words("git log --oneline -n 5") is not None
    assert [of_bare_words(line) for line in ("", "a  b", "a=b c", "ls *", "a;b", "a\nb", "a b ", "é")] == [None] * 8


def test_words_are_as_the_command_gets_them() -> None:
    (command,) = taken_apart("""r\\m 'a b' "c d" e"f"g $HOME $'x'""").commands
    assert command.words == ("rm", "a b", "c d", "efg", "$HOME", "x")


def test_what_commands_run_in_turn() -> None:
    def only(line: str) -> Any:
        return taken_apart(line).commands[0]

    assert scripts(only("bash -lc 'a b'")) == ["a b"]
    assert scripts(only("/bin/sh -e -c x y")) == ["x"]
    assert scripts(only("eval a b")) == ["a b"]
    assert scripts(only("bash x.sh")) == []
    assert hidden(only("sudo -u me FOO=1 rm 'a b'")) == "rm 'a b'"
    assert hidden(only("A=1 timeout -s KILL 5 nice rm x")) == "rm x"
    assert hidden(only("rm x")) == ""
    assert hidden(only("""'r'"m" x""")) == "rm x"
    assert hidden(only("sudo /bin/rm x")) == "rm x"


WORDS = [
    "ls",
    "rm",
    "rm -rf x",
    "git push",
    "echo",
    "cat a",
    "sudo",
    "$x",
    "'a b'",
    "curl x",
    "bash -c",
    "eval",
    "FOO=1",
]
SIMPLE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
WRAPS = [
    "({})",
    "$({})",
    "`{}`",
    "bash -c '{}'",
    "{{ {}; }}",
    "! {}",
    "for x in a; do {}; done",
    "sudo {}",
    "{} > f",
    "<({})",
]
LINES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" && ", " || ", "; ", " | ", " & ", "\n"]), inner).map("".join),
        st.tuples(st.sampled_from(WRAPS), inner).map(lambda pair: pair[0].format(pair[1])),
    ),
    max_leaves=6,
)
RULES = st.lists(
    st.builds(
        lambda decision, prefix, priority, redirection: Rule(
            decision, ("run_shell_command",), 4 + priority / 1000, prefix=prefix, redirection=redirection
        ),
        st.sampled_from(["allow", "ask", "deny"]),
        st.sampled_from([None, "ls", "rm", "git", "git push", "echo", "sudo", "bash", "cat", "curl", "("]),
        st.integers(0, 999),
        st.booleans(),
    ),
    max_size=6,
)
AROUND = st.builds(
    Surroundings,
    st.sampled_from([mode for mode in MODES if mode != "yolo"]),
    st.booleans(),
    st.just(Path("/tmp")),
    st.booleans(),
)


@given(st.one_of(LINES, st.text(max_size=40)), RULES, AROUND, st.sampled_from(["", "/", "sub"]))
def test_no_line_gets_off_more_lightly_than_a_part_of_it(
    line: str, rules: list[Rule], around: Surroundings, folder: str
) -> None:
    judge = Judge([*rules, *default_rules()])
    more = {"dir_path": folder} if folder else {}
    whole = judge.decide(shell(line, **more), around)
    found = taken_apart(line)
    for command in found.commands:
        part = judge.decide(shell(command.text, **more), around)
        assert HARDNESS[whole.decision] >= HARDNESS[part.decision], command.text
        for script in scripts(command):
            inner = judge.decide(shell(script, **more), around)
            assert HARDNESS[whole.decision] >= HARDNESS[inner.decision], script
    if found.broken and line:
        assert whole.decision != "allow"


@example("ls", " && ", "FOO=1", [allow("run_shell_command")], Surroundings(interactive=False))
@given(SIMPLE, st.sampled_from([" && ", " || ", "; ", " | ", " & ", "\n"]), SIMPLE, RULES, AROUND)
def test_two_commands_are_judged_by_the_worse(
    one: str, between: str, other: str, rules: list[Rule], around: Surroundings
) -> None:
    judge = Judge([*rules, *default_rules()])
    together = judge.decide(shell(one + between + other), around).decision
    for part in (one, other):
        assert HARDNESS[together] >= HARDNESS[judge.decide(shell(part), around).decision], part


@pytest.mark.parametrize(
    "line",
    [
        "git log ${HOME#$(touch x)}",
        "git log ${x:-`touch x`}",
        "git log \"${x:-'$(touch x)'}\"",
        "git log $((a='b[$(touch x)0]'))",
        "git log ${HOME:'a[$(touch x)0]'}",
        "git log ${HOME:$'a[\\x24(touch x)0]'}",
        "git log ${a:='b[$''(touch x)0]'}$((a))",
        "git log ${x:-<(touch x)}",
        "git log ${x:-${ touch x; }}",
        "git log <<E\n`touch x`\nE",
        "git log <<-E\n\t$(touch x)\n\tE",
        "git log <<'E' <<F\nE\n`touch x`\nF",
    ],
)
def test_no_command_hides_in_what_a_shell_reads_again(line: str) -> None:
    rules = [allow("run_shell_command", prefix="git", redirection=True)]
    assert decided(rules, shell(line)) == "ask"
    denied = [deny("run_shell_command", prefix="touch"), allow("run_shell_command")]
    assert decided(denied, shell(line), mode="yolo") == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "git log '$(x)'",
        'git log "$(git status)"',
        "git log `git status`",
        "git log # `x`",
        "git log ${x:-main}",
        "git log 'a'`git status`'$(b)'",
        "git log <<E\nplain text, $x\nE",
        "git log <<'E'\n`x` and $(y)\nE",
    ],
)
def test_text_and_substitutions_that_are_told_apart_are_judged_by_what_they_are(line: str) -> None:
    assert decided([allow("run_shell_command", prefix="git", redirection=True)], shell(line)) == "allow"


def test_a_quote_is_no_end_of_a_command() -> None:
    rules = [allow("run_shell_command", prefix="git")]
    assert decided(rules, shell('git"-evil" a')) == "ask"
    assert decided(rules, shell("git'-evil' a")) == "ask"
    assert decided([deny("run_shell_command", prefix="git")], shell('"git" a')) == "deny"
