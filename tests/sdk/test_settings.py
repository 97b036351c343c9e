"""Settings: four tiers, comments, variables, trust, `.env`; and a clear sentence when a file is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from farhand.sdk.dotenv import parse_dotenv
from farhand.sdk.settings import AgentSettings, SettingsError, load_settings


class Machine:
    """A home, a project and a system folder, all thrown away afterwards."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "work" / "project"
        self.system = root / "etc" / "settings.json"
        for folder in (self.home / ".gemini", self.project / ".gemini", self.system.parent):
            folder.mkdir(parents=True)
        self.environ = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(self.system)}

    def trust(self, kind: str = "TRUST_FOLDER", folder: Path | None = None) -> None:
        rules = {str(folder or self.project): kind}
        (self.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(rules))

    def write(self, tier: str, values: Any) -> Path:
        path = {
            "user": self.home / ".gemini" / "settings.json",
            "project": self.project / ".gemini" / "settings.json",
            "system": self.system,
            "system-defaults": self.system.parent / "system-defaults.json",
        }[tier]
        path.write_text(values if isinstance(values, str) else json.dumps(values))
        return path

    def load(self, **environ: str) -> AgentSettings:
        return load_settings(self.project, self.home, {**self.environ, **environ})


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.trust()
    return made


def test_nothing_configured_is_no_error(machine: Machine) -> None:
    settings = machine.load()
    assert settings.raw == {}
    assert settings.get("model.name", "default") == "default"


def test_tiers_beat_one_another_in_order(machine: Machine) -> None:
    for tier in ("system-defaults", "user", "project", "system"):
        machine.write(tier, {"model": {"name": tier, tier: True}, "order": {tier: 1}})
        assert machine.load().get("model.name") == tier
    assert machine.load().get("model") == {
        "name": "system",
        "system-defaults": True,
        "user": True,
        "project": True,
        "system": True,
    }


def test_the_system_beats_the_project_and_the_project_the_user(machine: Machine) -> None:
    machine.write("system", {"ui": "system"})
    machine.write("project", {"ui": "project", "model": {"name": "project"}})
    machine.write("user", {"ui": "user", "model": {"name": "user"}})
    assert machine.load().raw == {"ui": "system", "model": {"name": "project"}}


def test_lists_replace_unite_or_follow_as_the_cli_has_it(machine: Machine) -> None:
    machine.write(
        "user",
        {
            "tools": {"core": ["a"], "exclude": ["x", "y"]},
            "context": {"includeDirectories": ["one"]},
            "hooks": {"BeforeTool": [{"matcher": "user"}]},
            "mcpServers": {"s": {"command": "old", "args": ["1"]}, "t": {"command": "kept"}},
        },
    )
    machine.write(
        "project",
        {
            "tools": {"core": ["b"], "exclude": ["y", "z"]},
            "context": {"includeDirectories": ["two"]},
            "hooks": {"BeforeTool": [{"matcher": "project"}]},
            "mcpServers": {"s": {"url": "http://127.0.0.1"}},
        },
    )
    settings = machine.load()
    assert settings.get("tools.core") == ["b"]
    assert settings.get("tools.exclude") == ["x", "y", "z"]
    assert settings.get("context.includeDirectories") == ["one", "two"]
    assert [group["matcher"] for group in settings.get("hooks.BeforeTool")] == ["user", "project"]
    assert settings.get("mcpServers") == {"s": {"url": "http://127.0.0.1"}, "t": {"command": "kept"}}


def test_comments_are_allowed_and_strings_keep_their_slashes(machine: Machine) -> None:
    machine.write(
        "user",
        '// first\n{ "url": "http://host//path", /* many\nlines */ "text": "/* kept */ // kept", "quote": "\\"//" }\n',
    )
    assert machine.load().raw == {"url": "http://host//path", "text": "/* kept */ // kept", "quote": '"//'}


def test_variables_are_filled_everywhere_and_unknown_ones_stay(machine: Machine) -> None:
    machine.write(
        "user",
        {"a": "$NAME/${NAME}/${GONE:-fallback}", "b": ["$GONE", {"c": "${GONE}"}], "d": 5, "e": "${EMPTY:-unused}"},
    )
    settings = machine.load(NAME="value", EMPTY="")
    assert settings.raw == {"a": "value/value/fallback", "b": ["$GONE", {"c": "${GONE}"}], "d": 5, "e": ""}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1,\n// note\n"b": }', "line 3"),
        ("[1]", "JSON object"),
        ('{"a": 1} trailing', "Extra data"),
    ],
)
def test_a_broken_file_is_named_with_its_line(machine: Machine, text: str, why: str) -> None:
    path = machine.write("user", text)
    with pytest.raises(SettingsError, match=why) as caught:
        machine.load()
    assert str(path) in str(caught.value)


def test_bytes_that_are_no_text_are_a_clear_error(machine: Machine) -> None:
    machine.write("user", "{}").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(SettingsError, match=r"settings\.json"):
        machine.load()


def test_an_untrusted_folder_adds_nothing_and_says_so(machine: Machine) -> None:
    machine.trust("DO_NOT_TRUST")
    machine.write("user", {"mine": 1})
    machine.write("project", "not even JSON")
    (machine.project / ".env").write_text("LEAKED=1\n")
    settings = machine.load()
    assert (settings.trusted, settings.raw) == (False, {"mine": 1})
    assert "LEAKED" not in settings.environ
    assert ".gemini/settings.json" in settings.warnings[0]


def test_a_folder_no_rule_names_is_not_trusted(machine: Machine) -> None:
    machine.trust(folder=machine.home / "elsewhere")
    assert not machine.load().trusted
    assert machine.load(GEMINI_CLI_TRUST_WORKSPACE="true").trusted
    assert load_settings(machine.project, machine.home, machine.environ, trust=True).trusted
    machine.write("user", {"security": {"folderTrust": {"enabled": False}}})
    assert machine.load().trusted


def test_the_project_cannot_switch_its_own_trust_on(machine: Machine) -> None:
    machine.trust("DO_NOT_TRUST")
    machine.write("project", {"security": {"folderTrust": {"enabled": False}}})
    (machine.project / ".env").write_text("GEMINI_CLI_TRUST_WORKSPACE=true\n")
    assert not machine.load().trusted


def test_the_longest_rule_decides(machine: Machine) -> None:
    rules = {
        str(machine.project.parent): "TRUST_FOLDER",
        str(machine.project): "DO_NOT_TRUST",
        str(machine.project / "inner" / "file"): "TRUST_PARENT",
    }
    (machine.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(rules))
    inner = machine.project / "inner"
    inner.mkdir()
    assert load_settings(machine.project.parent / "other", machine.home, machine.environ).trusted
    assert not machine.load().trusted
    assert load_settings(inner, machine.home, machine.environ).trusted


def test_a_symlink_does_not_borrow_trust(machine: Machine, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    link = machine.project / "link"
    link.symlink_to(hostile)
    assert not load_settings(link, machine.home, machine.environ).trusted


def test_a_broken_list_of_trust_trusts_nobody(machine: Machine) -> None:
    (machine.home / ".gemini" / "trustedFolders.json").write_text("{")
    settings = machine.load()
    assert not settings.trusted
    assert "no folder is trusted" in settings.warnings[0]


def test_dotenv_nearest_wins_and_the_environment_stays(machine: Machine) -> None:
    (machine.project.parent / ".env").write_text("FAR=1\n")
    (machine.project / ".env").write_text("NEAR=1\nSET=file\nDEBUG=1\n")
    settings = machine.load(SET="environment")
    assert (settings.environ["NEAR"], settings.environ["SET"]) == ("1", "environment")
    assert not {"FAR", "DEBUG"} & set(settings.environ)
    (machine.project / ".gemini" / ".env").write_text("OWN=1\nDEBUG=1\n")
    settings = machine.load()
    assert (settings.environ["OWN"], settings.environ["DEBUG"]) == ("1", "1")
    assert "NEAR" not in settings.environ


def test_dotenv_variables_reach_the_settings(machine: Machine) -> None:
    (machine.home / ".env").write_text("MODEL_NAME=from-home\n")
    machine.write("user", {"model": {"name": "$MODEL_NAME"}})
    assert machine.load().get("model.name") == "from-home"


def test_dotenv_grammar() -> None:
    text = (
        '# note\nexport A=1\nB = two words # note\nC=\'single # kept $X\'\nD="line\\nbreak \\"q\\""\n'
        'E=\nF=`back`\nnot a line\nG="many\nlines"\r\nA=last\n'
    )
    assert parse_dotenv(text) == {
        "A": "last",
        "B": "two words",
        "C": "single # kept $X",
        "D": 'line\nbreak "q"',
        "E": "",
        "F": "back",
        "G": "many\nlines",
    }
