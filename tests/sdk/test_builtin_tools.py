"""The built-in tools: the CLI's names and arguments, ignore files, the workspace's walls, long and hostile output."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.builtin_calls import call, refusal, text

from farhand.sdk.context import LiveContext
from farhand.sdk.settings import AgentSettings
from farhand.sdk.tools import builtin_tools
from farhand.sdk.tools.builtin import BUILTIN_TOOLS

pytestmark = pytest.mark.anyio

# Name: the required arguments, then the optional ones.
ARGUMENTS = {
    "read_file": ("file_path", "start_line end_line"),
    "write_file": ("file_path content", ""),
    "replace": ("file_path instruction old_string new_string", "allow_multiple"),
    "run_shell_command": ("command", "description dir_path is_background delay_ms"),
    "glob": ("pattern", "dir_path case_sensitive respect_git_ignore respect_gemini_ignore"),
    "grep_search": (
        "pattern",
        "dir_path include_pattern exclude_pattern names_only max_matches_per_file total_max_matches "
        "case_sensitive fixed_strings context after before no_ignore",
    ),
    "list_directory": ("dir_path", "ignore file_filtering_options"),
    "read_many_files": ("include", "exclude recursive useDefaultExcludes file_filtering_options"),
    "web_fetch": ("prompt", ""),
    "write_todos": ("todos", ""),
    "ask_user": ("questions", ""),
}


@pytest.fixture
def folder(context: LiveContext) -> Path:
    return Path(context.cwd)


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_names_and_arguments_are_those_of_the_cli(name: str) -> None:
    required, optional = ARGUMENTS[name]
    made = BUILTIN_TOOLS[name]
    assert made.parameters.get("required", []) == required.split()
    assert sorted(made.parameters["properties"]) == sorted(f"{required} {optional}".split())
    assert made.description
    undescribed = [key for key, schema in made.parameters["properties"].items() if not schema.get("description")]
    assert undescribed == []


async def test_settings_choose_the_tools() -> None:
    def names(**raw: Any) -> set[str]:
        return {tool.name for tool in builtin_tools(AgentSettings(raw=raw))}

    assert names() == set(ARGUMENTS)
    assert names(tools={"core": ["read_file", "run_shell_command(git)"]}) == {"read_file", "run_shell_command"}
    assert names(tools={"exclude": ["glob"]}, useWriteTodos=False) == set(ARGUMENTS) - {"glob", "write_todos"}


# read_file


async def test_read_file_whole_and_in_parts(context: LiveContext, folder: Path) -> None:
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    assert await text(context, "read_file", file_path="a.txt") == "one\ntwo\nthree\n"
    assert await text(context, "read_file", file_path=str(folder / "a.txt"), start_line=3) == "three\n"
    assert await text(context, "read_file", file_path="a.txt", start_line=1, end_line=2) == "one\ntwo\n"
    assert "there is no line 9" in await refusal(context, "read_file", file_path="a.txt", start_line=9)
    (folder / "empty").write_text("")
    assert await text(context, "read_file", file_path="empty") == ""


async def test_a_long_file_says_where_to_go_on(context: LiveContext, folder: Path) -> None:
    (folder / "long.txt").write_text("".join(f"{n}\n" for n in range(1, 5001)))
    first = await text(context, "read_file", file_path="long.txt")
    assert first.startswith("[Lines 1 to 2000 of 5000 of long.txt. Go on with start_line 2001.]\n1\n")
    assert first.endswith("\n2000\n")
    assert "\n2001\n" in await text(context, "read_file", file_path="long.txt", start_line=2001)


async def test_a_huge_line_is_cut(context: LiveContext, folder: Path) -> None:
    (folder / "line.txt").write_text("x" * 3_000_000)
    content = await text(context, "read_file", file_path="line.txt")
    assert "[line cut]" in content
    assert len(content) < 10_000


async def test_pictures_are_parts_and_binaries_are_refused(context: LiveContext, folder: Path) -> None:
    (folder / "dot.png").write_bytes(b"\x89PNG\x00data")
    (folder / "blob.bin").write_bytes(b"\x00\x01\x02")
    (folder / "wide.txt").write_bytes("größe".encode("utf-16"))
    picture = await call(context, "read_file", file_path="dot.png")
    data = base64.b64encode(b"\x89PNG\x00data").decode()
    assert picture.content == [{"inlineData": {"mimeType": "image/png", "data": data}}]
    assert "binary file of 3 bytes" in await refusal(context, "read_file", file_path="blob.bin")
    assert await text(context, "read_file", file_path="wide.txt") == "größe"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("gone.txt", "There is no file"),
        ("sub", "is a folder"),
        ("../outside.txt", "outside the workspace"),
        ("link.txt", "outside the workspace"),
        ("loop", "There is no file"),
        ("secret.env", "ignored by"),
        ("pipe", "There is no file"),
    ],
)
async def test_what_cannot_be_read_is_said(context: LiveContext, folder: Path, path: str, sentence: str) -> None:
    (folder / "sub").mkdir()
    (folder.parent / "outside.txt").write_text("x")
    (folder / "link.txt").symlink_to(folder.parent / "outside.txt")
    (folder / "loop").symlink_to("loop")
    (folder / ".geminiignore").write_text("*.env\n")
    (folder / "secret.env").write_text("x")
    os.mkfifo(folder / "pipe")
    assert sentence in await refusal(context, "read_file", file_path=path)


async def test_the_memory_of_a_sub_folder_is_told_once(context: LiveContext, folder: Path) -> None:
    for path, words in (("GEMINI.md", "ROOT"), ("src/GEMINI.md", "SRC"), ("src/deep/GEMINI.md", "DEEP")):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(words)
    (folder / "src" / "deep" / "a.txt").write_text("text\n")
    first = await text(context, "read_file", file_path="src/deep/a.txt")
    assert first.startswith("text\n\n\n--- Newly Discovered Project Context ---\n--- Context from: ")
    assert "SRC" in first
    assert "DEEP" in first
    assert "ROOT" not in first
    assert await text(context, "read_file", file_path="src/deep/a.txt") == "text\n"
    assert "SRC" not in await text(context, "list_directory", dir_path="src")


# write_file and replace


async def test_write_file_makes_folders_and_shows_the_difference(context: LiveContext, folder: Path) -> None:
    assert await text(context, "write_file", file_path="new/a.txt", content="one\n") == "Created new/a.txt."
    result = await call(context, "write_file", file_path="new/a.txt", content="two\n")
    assert result.content == "Overwrote new/a.txt."
    assert "-one\n+two\n" in result.display
    assert (folder / "new" / "a.txt").read_text() == "two\n"


async def test_write_file_keeps_line_ends_and_walls(context: LiveContext, folder: Path) -> None:
    (folder / "dos.txt").write_bytes(b"a\r\nb\r\n")
    await text(context, "write_file", file_path="dos.txt", content="c\nd\n")
    assert (folder / "dos.txt").read_bytes() == b"c\r\nd\r\n"
    assert "outside" in await refusal(context, "write_file", file_path="../x", content="")
    assert "is a folder" in await refusal(context, "write_file", file_path=".", content="")
    (folder / "file").write_text("x")
    assert "failed" in await refusal(context, "write_file", file_path="file/inside", content="")


async def test_replace_changes_one_place_or_all(context: LiveContext, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\ny = 1\n")
    why = {"file_path": "a.py", "instruction": "test"}
    assert await text(context, "replace", **why, old_string="x = 1", new_string="x = 2") == "Changed a.py in 1 place."
    assert "not in it" in await refusal(context, "replace", **why, old_string="z = 1", new_string="")
    (folder / "a.py").write_text("x = 1\nx = 1\n")
    assert "occurs 2 times" in await refusal(context, "replace", **why, old_string="x = 1", new_string="x = 2")
    await text(context, "replace", **why, old_string="x = 1", new_string="x = 2", allow_multiple=True)
    assert (folder / "a.py").read_text() == "x = 2\nx = 2\n"
    assert "the same" in await refusal(context, "replace", **why, old_string="x", new_string="x")
    assert "is empty" in await refusal(context, "replace", **why, old_string="", new_string="x")


async def test_replace_finds_lines_whatever_their_indentation(context: LiveContext, folder: Path) -> None:
    (folder / "a.py").write_text("def f():\n        if a:\n            b()\n")
    old, new = "if a:\n    b()", "if a:\n    c()\n    d()"
    await text(context, "replace", file_path="a.py", instruction="", old_string=old, new_string=new)
    assert (folder / "a.py").read_text() == "def f():\n        if a:\n            c()\n            d()\n"


async def test_replace_keeps_line_ends_and_makes_files(context: LiveContext, folder: Path) -> None:
    (folder / "dos.txt").write_bytes(b"a\r\nb\r\n")
    await text(context, "replace", file_path="dos.txt", instruction="", old_string="a\nb", new_string="c\nd")
    assert (folder / "dos.txt").read_bytes() == b"c\r\nd\r\n"
    await text(context, "replace", file_path="new.txt", instruction="", old_string="", new_string="hi")
    assert (folder / "new.txt").read_text() == "hi"
    assert "no file" in await refusal(
        context, "replace", file_path="none", instruction="", old_string="a", new_string="b"
    )


# list_directory, glob, grep_search, read_many_files


@pytest.fixture
def tree(folder: Path) -> Path:
    (folder / ".gitignore").write_text("*.log\n/build/\n!keep.log\n")
    (folder / ".geminiignore").write_text("private/\n")
    for path in ("a.py", "keep.log", "drop.log", "build/x.py", "private/p.py", "src/deep/b.py", "src/deep/c.TXT"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# needle in {path}\nlast\n")
    (folder / "src" / ".gitignore").write_text("*.TXT\n")
    (folder / "src" / "loop").symlink_to(folder)
    return folder


async def test_list_directory_leaves_out_what_is_ignored(context: LiveContext, tree: Path) -> None:
    listing = await text(context, "list_directory", dir_path=".")
    assert listing.splitlines() == [
        "In .:",
        "[DIR] src",
        ".geminiignore (9 bytes)",
        ".gitignore (24 bytes)",
        "a.py (22 bytes)",
        "keep.log (26 bytes)",
        "(4 ignored)",
    ]
    everything = await text(
        context,
        "list_directory",
        dir_path=".",
        ignore=["*.py", ".g*"],
        file_filtering_options={"respect_git_ignore": False, "respect_gemini_ignore": False},
    )
    assert [line.split(" (")[0] for line in everything.splitlines()[1:]] == [
        "[DIR] build",
        "[DIR] private",
        "[DIR] src",
        "drop.log",
        "keep.log",
    ]
    assert "no folder" in await refusal(context, "list_directory", dir_path="a.py")
    (tree / "empty").mkdir()
    (tree / "empty" / "broken").symlink_to("nowhere")
    assert "leads nowhere" in await text(context, "list_directory", dir_path="empty")


async def found(context: LiveContext, **arguments: Any) -> list[str]:
    content = await text(context, "glob", **arguments)
    return sorted(line.removeprefix(f"{context.cwd}/") for line in content.splitlines()[1:])


async def test_glob_finds_by_pattern(context: LiveContext, tree: Path) -> None:
    assert await found(context, pattern="**/*.py") == ["a.py", "src/deep/b.py"]
    assert await found(context, pattern="*.{py,log}") == ["a.py", "keep.log"]
    assert await found(context, pattern="[ab].py", dir_path="src/deep") == ["src/deep/b.py"]
    assert await found(context, pattern=f"{tree}/**/b.*") == ["src/deep/b.py"]
    assert await found(context, pattern="**/*.txt", respect_git_ignore=False) == ["src/deep/c.TXT"]
    assert await found(context, pattern="**/*.txt", respect_git_ignore=False, case_sensitive=True) == []
    assert await found(context, pattern="**/p.py", respect_gemini_ignore=False) == ["private/p.py"]
    assert "outside" in await refusal(context, "glob", pattern="*", dir_path="..")
    assert "empty" in await refusal(context, "glob", pattern=" ")


async def test_glob_puts_the_newest_first(context: LiveContext, folder: Path) -> None:
    for name, age in (("b", 0), ("a", 50), ("d", 900_000), ("c", 800_000)):
        (folder / name).write_text("")
        now = (folder / name).stat().st_mtime
        os.utime(folder / name, (now - age, now - age))
    content = await text(context, "glob", pattern="?")
    assert [Path(line).name for line in content.splitlines()[1:]] == ["b", "a", "c", "d"]


async def test_grep_search_tells_file_line_and_text(context: LiveContext, tree: Path) -> None:
    content = await text(context, "grep_search", pattern="NEEDLE in")
    assert content.startswith(
        "Found 3 matches for 'NEEDLE in' in the workspace:\n---\nFile: a.py\nL1: # needle in a.py\n---\n"
    )
    assert "build" not in content
    assert "private" not in content
    names = await text(context, "grep_search", pattern="needle", names_only=True, include_pattern="*.py")
    assert names.splitlines()[1:] == ["a.py", "src/deep/b.py"]
    assert "No match" in await text(context, "grep_search", pattern="NEEDLE", case_sensitive=True)
    assert "No match" in await text(context, "grep_search", pattern="n.edle", fixed_strings=True)
    one = await text(context, "grep_search", pattern="needle", exclude_pattern="LOG$|deep", after=1)
    assert one.splitlines()[2:5] == ["File: a.py", "L1: # needle in a.py", "L2- last"]
    assert "build/x.py" in await text(context, "grep_search", pattern="needle", no_ignore=True)
    assert "a.py" in await text(context, "grep_search", pattern="last", dir_path="a.py", context=3)


async def test_grep_search_stops_when_it_has_enough(context: LiveContext, folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}.txt").write_text("hit\n" * 50)
    content = await text(context, "grep_search", pattern="hit", max_matches_per_file=2, total_max_matches=5)
    assert content.startswith("Found 5 matches")
    assert "There are more" in content


async def test_grep_search_survives_hostile_files_and_patterns(
    context: LiveContext, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bin").write_bytes(b"\0needle")
    (folder / "bad.txt").write_bytes(b"\xffneedle\xff")
    (folder / "evil.txt").write_text("a" * 40 + "!")
    assert "bad.txt" in await text(context, "grep_search", pattern="needle")
    assert "no regular expression" in await refusal(context, "grep_search", pattern="(")
    monkeypatch.setattr("farhand.sdk.tools.search.SEARCH_SECONDS", 0.5)
    content = await text(context, "grep_search", pattern="(a+)+$")
    assert "not complete" in content


@pytest.mark.parametrize("pattern", ["^two$", r"\Atwo\Z", "two$", "^t.o", r"\btwo\b", "(?<!x)two(?!x)"])
async def test_grep_search_looks_at_lines(context: LiveContext, folder: Path, pattern: str) -> None:
    (folder / "unix.txt").write_bytes(b"one\ntwo\nthree\n")
    (folder / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (folder / "last.txt").write_bytes(b"one\ntwo")
    content = await text(context, "grep_search", pattern=pattern)
    assert content.count("L2: two\n") == 3
    assert content.startswith("Found 3 matches")


async def test_grep_search_does_not_follow_links_out(context: LiveContext, folder: Path) -> None:
    (folder.parent / "secret.txt").write_text("needle SECRET")
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "inside.txt").symlink_to("real.txt")
    (folder / "real.txt").write_text("needle plain")
    (folder / "folder").symlink_to(folder.parent)
    content = await text(context, "grep_search", pattern="needle", no_ignore=True)
    assert "SECRET" not in content
    assert "File: inside.txt" in content


async def test_read_many_files_puts_texts_together(context: LiveContext, tree: Path) -> None:
    (tree / "pic.png").write_bytes(b"\x89PNG\0")
    content = await text(context, "read_many_files", include=["**/*.py", "src", "*.png"], exclude=["a.*"])
    assert "--- src/deep/b.py ---\n# needle in src/deep/b.py\nlast\n" in content
    assert "a.py" not in content
    assert "Left out:\npic.png: binary" in content
    named = await call(context, "read_many_files", include=["a.py", "pic.png"])
    assert isinstance(named.content, list)
    assert [next(iter(part)) for part in named.content] == ["text", "text", "inlineData"]
    assert "No file matched" in await text(context, "read_many_files", include=["*.nothing"])
    assert "names no file" in await refusal(context, "read_many_files", include=[])


async def test_read_many_files_does_not_follow_links_out(context: LiveContext, folder: Path) -> None:
    (folder.parent / "secret.txt").write_text("SECRET")
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    content = await text(context, "read_many_files", include=["*.txt"])
    assert "SECRET" not in content
    assert "outside the workspace" in content
