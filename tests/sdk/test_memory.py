"""Memory: which GEMINI.md files count, in which order, and what an `@import` may bring in."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.sdk.errors import SdkError
from farhand.sdk.first_message import PROMPT_VARIABLE, system_prompt
from farhand.sdk.memory import Discovery, load_memory
from farhand.sdk.protocols import Memory
from farhand.sdk.settings import AgentSettings, load_settings
from farhand.sdk.trust import Trust


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def load(cwd: Path, home: Path, **context: object) -> Memory:
    return load_memory(cwd, home, AgentSettings(raw={"context": context}))


def test_global_and_project_are_kept_apart(home: Path, project: Path) -> None:
    (home / ".gemini" / "GEMINI.md").write_text("be brief\n")
    (project / "GEMINI.md").write_text("use tabs\n")
    memory = load(project, home)
    path = home / ".gemini" / "GEMINI.md"
    assert memory.global_text == f"--- Context from: {path} ---\nbe brief\n--- End of Context from: {path} ---"
    assert "use tabs" in memory.project_text
    assert "be brief" not in memory.project_text


def test_project_files_from_the_root_down_and_never_above_it(home: Path, project: Path, tmp_path: Path) -> None:
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "GEMINI.md").write_text("ABOVE")
    (project / "GEMINI.md").write_text("ROOT")
    (inner / "GEMINI.md").write_text("INNER")
    text = load(inner, home).project_text
    assert text.index("ROOT") < text.index("INNER")
    assert "ABOVE" not in text


def test_without_a_marker_only_the_folder_itself(home: Path, tmp_path: Path) -> None:
    inner = tmp_path / "plain" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "GEMINI.md").write_text("ABOVE")
    (inner / "GEMINI.md").write_text("HERE")
    assert "ABOVE" not in load(inner, home).project_text
    assert "HERE" in load(inner, home).project_text


def test_names_and_markers_come_from_settings(home: Path, project: Path) -> None:
    (project / "AGENTS.md").write_text("AGENTS")
    (project / "GEMINI.md").write_text("GEMINI")
    text = load(project, home, fileName=["AGENTS.md", "NONE.md"]).project_text
    assert "AGENTS\n" in text
    assert "GEMINI\n" in text
    assert load(project, home, fileName="AGENTS.md").project_text == text
    inner = project / "inner"
    inner.mkdir()
    assert load(inner, home, memoryBoundaryMarkers=[".hg"]).project_text == ""


def test_an_untrusted_folder_has_no_memory(home: Path, project: Path) -> None:
    (home / ".gemini" / "GEMINI.md").write_text("mine")
    (project / "GEMINI.md").write_text("theirs")
    memory = load_memory(project, home, AgentSettings(trust=Trust(False, "test")))
    assert "mine" in memory.global_text
    assert memory.project_text == ""


def test_included_folders_count_when_asked_for(home: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "GEMINI.md").write_text("OTHER")
    included = [str(tmp_path / "other")]
    assert "OTHER" not in load(project, home, includeDirectories=included).project_text
    both = load(project, home, includeDirectories=included, loadMemoryFromIncludeDirectories=True)
    assert "OTHER" in both.project_text


def test_imports_are_put_in_place(home: Path, project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "style.md").write_text("STYLE, see @./more.md.")
    (project / "docs" / "more.md").write_text("MORE")
    (project / "GEMINI.md").write_text("Read @./docs/style.md first. Mail me@./docs/style.md never.")
    text = load(project, home).project_text
    assert "<!-- Imported from: ./docs/style.md -->\nSTYLE" in text
    assert "MORE" in text
    assert "me@./docs/style.md never" in text


def test_code_holds_no_imports(home: Path, project: Path) -> None:
    (project / "x.md").write_text("IMPORTED")
    (project / "GEMINI.md").write_text(
        "`@./x.md` and ``@./x.md``\n```\n@./x.md\n```\n~~~sh\n@./x.md\n~~~\nlast @./x.md\n"
    )
    text = load(project, home).project_text
    assert text.count("IMPORTED") == 1
    assert text.count("`@./x.md`") == 2


def test_cycles_depth_missing_and_outside_leave_a_comment(home: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("SECRET")
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    (project / "GEMINI.md").write_text("@./a.md\n@./gone.md\n@../secret.md\n@./link.md\n@./1.md\n")
    (project / "a.md").write_text("A @./b.md")
    (project / "b.md").write_text("B @./a.md")
    for number in range(1, 9):
        (project / f"{number}.md").write_text(f"LEVEL{number} @./{number + 1}.md")
    text = load(project, home).project_text
    assert "it imports itself" in text
    assert "no readable file" in text
    assert text.count("outside the folders") == 2
    assert "SECRET" not in text
    assert "LEVEL5" in text
    assert "LEVEL6" not in text


def test_a_diamond_is_no_cycle(home: Path, project: Path) -> None:
    (project / "shared.md").write_text("SHARED")
    (project / "GEMINI.md").write_text("@./shared.md\n@./shared.md\n")
    assert load(project, home).project_text.count("SHARED") == 2


def test_hostile_files_do_no_harm(home: Path, project: Path) -> None:
    (project / "huge.md").write_bytes(b"x" * 2_000_000)
    (project / "loop.md").symlink_to(project / "loop.md")
    (project / "GEMINI.md").write_bytes(b"\xff\xfe text @./huge.md @./loop.md @./.. \x00")
    text = load(project, home).project_text
    assert text.count("Import failed") == 3
    assert len(text) < 2000


@pytest.mark.parametrize("name", ["GEMINI.md", "inner/GEMINI.md"])
def test_a_projects_memory_is_no_link_to_what_lies_elsewhere(
    project: Path, home: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "key").write_text("a secret")
    (project / "inner").mkdir(exist_ok=True)
    (project / name).symlink_to(tmp_path / "key")
    told = load(project / "inner", home).project_text
    assert "a secret" not in told
    assert "Not read: it leads out" in told
    touched = Discovery(project, AgentSettings()).at(project / "inner" / "x")
    assert "a secret" not in touched
    # One that stays inside is read, as is a link of the person's own.
    (project / name).unlink()
    (project / "AGENTS.md").write_text("our ways")
    (project / name).symlink_to(project / "AGENTS.md")
    assert "our ways" in load(project / "inner", home).project_text
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "GEMINI.md").symlink_to(tmp_path / "key")
    assert "a secret" in load(project, home).global_text


def test_a_project_names_no_memory_elsewhere(project: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a secret")
    assert "a secret" not in load(project, home, fileName="../key").project_text


def test_a_project_does_not_say_how_far_upwards_is_read(project: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a secret")
    (tmp_path / "marker").write_text("")
    (project / "GEMINI.md").write_text(f"@{tmp_path}/key")
    (project / ".gemini").mkdir(exist_ok=True)
    (project / ".gemini/settings.json").write_text('{"context": {"memoryBoundaryMarkers": ["marker"]}}')
    settings = load_settings(project, home, {}, trust=True)
    assert settings.get("context.memoryBoundaryMarkers") == ["marker"]
    assert "a secret" not in load_memory(project, home, settings).project_text


def test_a_projects_variables_name_no_system_prompt_elsewhere(project: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a secret")
    (project / "prompt.md").write_text("be brief")
    (project / ".gemini").mkdir(exist_ok=True)
    (project / ".gemini" / "system.md").symlink_to(tmp_path / "key")
    for value in ("../key", str(tmp_path / "key"), "1"):
        with pytest.raises(SdkError, match="leads out of the project"):
            system_prompt({PROMPT_VARIABLE: value}, project, {}, home)
    assert system_prompt({PROMPT_VARIABLE: "prompt.md"}, project, {}, home) == "be brief"
    # The person may name any file, and has no say in what a link of the project's is.
    own = {PROMPT_VARIABLE: "../key"}
    assert system_prompt(own, project, own, home) == "a secret"
    with pytest.raises(SdkError, match="leads out of the project"):
        system_prompt({PROMPT_VARIABLE: "1"}, project, {PROMPT_VARIABLE: "1"}, home)
