"""What `make check` holds beside style and types: sizes, names, no duck typing, a backend named in its own driver."""

import ast

import pytest
from scripts import check_house

from farhand.model.compat import BACKENDS

SOURCE = check_house.SOURCE


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("core/team.py", 'if backend == "codex":'),
        ("channels/kit/card.py", "GEMINI_COLOUR = 1"),
        ("drivers/codex/tmux/link.py", "# as Claude does"),
        ("drivers/wires/holder/process.py", "class OpencodeWire:"),
        ("drivers/demo/manifest.toml", 'like = "claude"'),
    ],
)
def test_a_backend_that_is_named_elsewhere_is_found(place: str, line: str) -> None:
    (complaint,) = check_house.names_backends(SOURCE / place, f"\n{line}\n", BACKENDS)
    assert complaint.startswith(f"src/farhand/{place}:2: ")


@pytest.mark.parametrize(
    "place",
    [
        "drivers/codex/tmux/link.py",
        "testing/claude_env.py",
        "model/compat.py",
        "sdk/settings.py",
        "drivers/native/x.py",
    ],
)
def test_where_it_belongs_it_may_be_named(place: str) -> None:
    assert check_house.names_backends(SOURCE / place, "codex", BACKENDS) == []


def test_a_module_that_is_too_long_or_opens_without_a_sentence_is_found() -> None:
    path = check_house.ROOT / "src" / "farhand" / "core" / "team.py"
    assert check_house.module_complaints(path, '"""What it is for."""\n' + "x = 1\n" * 449) == []
    (long,) = check_house.module_complaints(path, '"""What it is for."""\n' + "x = 1\n" * 450)
    assert long == "src/farhand/core/team.py: 451 lines; 450 is the limit"
    (silent,) = check_house.module_complaints(path, "x = 1\n")
    assert "opens without a sentence" in silent
    (vague,) = check_house.module_complaints(path.with_name("helpers.py"), '"""Helps."""\n')
    assert "'helpers' says nothing" in vague


def test_a_function_that_is_too_long_is_found() -> None:
    path = check_house.ROOT / "scripts" / "x.py"
    text = '"""X."""\ndef run():\n' + "    x = 1\n" * check_house.FUNCTION_LINES
    (complaint,) = check_house.module_complaints(path, text)
    assert complaint.startswith("scripts/x.py:2: run has 76 lines")


@pytest.mark.parametrize(("sizes", "fine"), [([90, 100, 400], True), ([10, 20, 400], False), ([190, 200, 400], False)])
def test_neither_a_drawer_of_tiny_modules_nor_a_few_large_ones(sizes: list[int], fine: bool) -> None:
    assert (check_house.median_complaints(sizes) == []) is fine


@pytest.mark.parametrize(
    "alias",
    [
        "Tell: TypeAlias = Callable[[str], None]",
        "Tell: typing.TypeAlias = 'Callable[[str], None]'",
        "Tell = Callable[[str], None]",
        "Tell = Said | Told",
        "Tell = TypeVar('Tell')",
        "Tell = typing.NewType('Tell', str)",
        "if TYPE_CHECKING:\n    Tell: TypeAlias = str",
    ],
)
def test_a_type_alias_with_the_name_of_another_type_is_found(alias: str) -> None:
    for other in ("class Tell: ...", "Tell: TypeAlias = str"):
        (complaint,) = check_house.twice_named({"model/a.py": ast.parse(other), "reach/b.py": ast.parse(alias)})
        assert complaint == "model/a.py and reach/b.py: two types are called Tell; a name says whose it is"


def test_letters_private_names_and_values_are_no_types_with_two_meanings() -> None:
    text = (
        "T = TypeVar('T')\n_Rows = list[str]\n_Row: TypeAlias = str\nLIMIT = LIMITS[0]\nFLAGS = A | B\nTell = made()\n"
    )
    text += "def f():\n    Inner = list[str]"
    assert check_house.twice_named({"a.py": ast.parse(text), "b.py": ast.parse(text)}) == []
    # The SDK's turns have events, too.
    modules = {"model/facts.py": ast.parse("class Event: ..."), "sdk/events.py": ast.parse("Event: TypeAlias = str")}
    assert check_house.twice_named(modules) == []


def test_a_class_name_with_two_meanings_is_found() -> None:
    modules = {
        "core/a.py": ast.parse("class Cursor: ..."),
        "store/b.py": ast.parse("class Cursor: ...\nclass Ask: ..."),
    }
    (complaint,) = check_house.twice_named({**modules, "sdk/c.py": ast.parse("class Ask: ...")})
    assert complaint == "core/a.py and store/b.py: two types are called Cursor; a name says whose it is"
    # Two ways to define it in one module, one for the type checker.
    assert check_house.twice_named({"a.py": ast.parse("if X:\n    class A: ...\nelse:\n    class A: ...")}) == []


AVOIDED = {"station": "host", "ears": "receiver"}


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("core/station.py", "x = 1", "station"),
        ("core/a.py", "class TmuxStation: ...", "TmuxStation"),
        ("core/a.py", "class A:\n    station: str", "station"),
        ("core/a.py", "def open_ears(): ...", "open_ears"),
        ("core/a.py", "class A:\n    async def _station(self): ...", "_station"),
        ("core/a.py", "self._ears = 1", "_ears"),
    ],
)
def test_a_metaphor_in_a_name_is_found(path: str, text: str, name: str) -> None:
    (complaint,) = check_house.badly_named(path, ast.parse(text), AVOIDED)
    assert complaint.startswith(f"{path}:")
    assert f"'{name}' says" in complaint


def test_sentences_and_other_words_are_no_metaphors() -> None:
    text = 'def test_nobody_hears_at_the_station(): ...\nyears = "station"\nx.stationary = years'
    assert check_house.badly_named("core/a.py", ast.parse(text), AVOIDED) == []


def test_arguments_and_variables_have_names_too() -> None:
    text = "def look(ears): ...\nfor station in range(3):\n    ears_of = station"
    found = check_house.badly_named("core/a.py", ast.parse(text), AVOIDED)
    assert [line.partition("'")[2].partition("'")[0] for line in found] == ["ears", "station", "ears_of"]


def test_a_module_is_called_by_what_is_in_it() -> None:
    found = [check_house.participles(path) for path in ("store/folding.py", "cli/tui_opened.py", "sdk/spending.py")]
    assert [len(one) for one in found] == [1, 1, 0]
    assert check_house.participles("sandbox/holding/__init__.py") == []


def test_the_glossary_says_which_words() -> None:
    avoided = check_house.avoided_words(check_house.GLOSSARY.read_text("utf-8"))
    wanted = {
        "seated",
        "painted",
        "hands",
        "spot",
        "station",
        "clerk",
        "ears",
        "studio",
        "workshop",
        "stage",
        "witness",
    }
    assert wanted <= avoided.keys()
    assert "word" not in avoided
    assert check_house.avoided_words("# No such table\n\n| station | host |\n") == {}


def test_duck_typing_is_found() -> None:
    text = 'getattr(channel, "announce", None)\ngetattr(x, "__name__", "")\ngetattr(x, name, None)\ngetattr(x, "y")'
    (complaint,) = check_house.duck_typing("app.py", ast.parse(text))
    assert complaint.startswith("app.py:1: getattr with a default asks for 'announce'")
    # A person's own objects.
    assert check_house.duck_typing("sdk/tools/x.py", ast.parse(text)) == []


def test_a_handler_of_every_error_needs_a_reason() -> None:
    kept = "try:\n    f()\nexcept Exception:\n    log.exception('x')"
    bare, base = kept.replace(" Exception", ""), kept.replace("Exception", "BaseException")
    for text in (kept, bare, base):
        (complaint,) = check_house.caught_whole("app.py", ast.parse(text))
        assert complaint == "src/farhand/app.py:3: catches every error; name those that are meant"
    # What is only noted on its way keeps nothing from anybody.
    assert check_house.caught_whole("app.py", ast.parse(f"{kept}\n    raise")) == []
    assert check_house.caught_whole("core/sprints.py", ast.parse(kept)) == []
    (fewer,) = check_house.caught_whole("core/sprints.py", ast.parse("f()"))
    assert "allows 1" in fewer


def test_what_a_room_may_still_have_only_falls() -> None:
    lines = ["core/a.py:1: x", "core/b.py:2: y", "app.py:3: z"]
    assert check_house.beyond(lines, {"core": 2, "app.py": 1}) == []
    assert check_house.beyond(lines, {"core": 1, "app.py": 1}) == [f"src/farhand/{line}" for line in lines[:2]]


def test_any_is_counted() -> None:
    text = "from typing import Any\ndef f(x: Any) -> dict[str, Any]: ...\nAnything = 1"
    assert check_house.uses_of_any(ast.parse(text)) == 3
