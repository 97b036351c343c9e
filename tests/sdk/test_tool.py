"""`@tool`: the schema a signature becomes, the values a model's JSON becomes, and what hostile functions come to."""

from __future__ import annotations

import contextvars
import enum
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, NotRequired, TypedDict, cast

import anyio
import pytest
from pydantic import BaseModel
from pydantic import Field as ModelField

from farhand.sdk.protocols import SessionContext, ToolResult
from farhand.sdk.tools import ToolDefinitionError, ToolError, as_tool, tool

if TYPE_CHECKING:
    from farhand.sdk.tools import FunctionTool

NO_CONTEXT = cast("SessionContext", None)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.Enum):
    LOW = (1, 2)
    HIGH = (3, 4)


@dataclass(frozen=True)
class Point:
    """Where it is."""

    x: int
    y: Annotated[int, "how far up"] = 0


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


class Options(TypedDict):
    verbose: bool
    tag: NotRequired[str]


class Person(BaseModel):
    name: str
    age: int = ModelField(ge=0, description="in years")


UserId = NewType("UserId", str)


async def run(made: Any, **arguments: Any) -> ToolResult:
    result = await as_tool(made).run(arguments, NO_CONTEXT)
    assert isinstance(result, ToolResult)
    return result


def properties(made: FunctionTool[..., Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", made.parameters["properties"])


@tool
def add(
    a: Annotated[float, "first number to add"], b: Annotated[float, "second number to add"] = 1
) -> dict[str, float]:
    """Add two numbers."""
    return {"result": a + b}


def test_the_signature_is_the_schema() -> None:
    assert (add.name, add.description, add.kind) == ("add", "Add two numbers.", "other")
    assert add.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "number", "description": "first number to add"},
            "b": {"type": "number", "description": "second number to add", "default": 1},
        },
        "required": ["a"],
    }


def test_a_tool_is_still_its_function() -> None:
    assert add(2, b=3) == {"result": 5}


def test_every_type_that_json_can_carry() -> None:
    @tool(name="all_kinds", description="Takes everything.")
    def everything(
        text: str,
        choice: Literal["a", "b"],
        colour: Colour,
        level: Level,
        maybe: int | None,
        either: int | str,
        words: list[str],
        pair: tuple[int, str],
        many: tuple[int, ...],
        table: dict[str, float],
        user: UserId,
        path: Path,
        anything: Any,
        options: Options,
        optional: Annotated[str | None, "may be left out"] = None,
        where: Point | None = None,
        shade: Colour = Colour.RED,
    ) -> None: ...

    assert everything.name == "all_kinds"
    assert properties(everything) == {
        "text": {"type": "string"},
        "choice": {"type": "string", "enum": ["a", "b"]},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "level": {"type": "string", "enum": ["LOW", "HIGH"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "words": {"type": "array", "items": {"type": "string"}},
        "pair": {
            "type": "array",
            "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "minItems": 2,
            "maxItems": 2,
        },
        "many": {"type": "array", "items": {"type": "integer"}},
        "table": {"type": "object", "additionalProperties": {"type": "number"}},
        "user": {"type": "string"},
        "path": {"type": "string"},
        "anything": {},
        "options": {
            "type": "object",
            "properties": {"verbose": {"type": "boolean"}, "tag": {"type": "string"}},
            "required": ["verbose"],
        },
        "optional": {"type": "string", "description": "may be left out"},
        "where": {
            "type": "object",
            "properties": {
                "x": {"type": "integer"},
                "y": {"type": "integer", "description": "how far up", "default": 0},
            },
            "required": ["x"],
            "description": "Where it is.",
        },
        "shade": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    }


def test_types_that_contain_themselves_become_definitions() -> None:
    @tool
    def plant(tree: Tree) -> None: ...

    assert properties(plant)["tree"] == {"$ref": "#/$defs/Tree"}
    items = plant.parameters["$defs"]["Tree"]["properties"]["children"]["items"]
    assert items == {"$ref": "#/$defs/Tree"}


def test_pydantic_models_bring_their_own_schema() -> None:
    @tool
    def greet(person: Person) -> None: ...

    assert properties(greet)["person"]["properties"]["age"]["minimum"] == 0


def test_types_of_the_calling_function_are_found() -> None:
    @dataclass
    class Local:
        n: int

    @tool
    def use(local: Local) -> None: ...

    assert properties(use)["local"]["required"] == ["n"]


@pytest.mark.anyio
async def test_values_arrive_as_the_signature_says() -> None:
    seen: dict[str, Any] = {}

    @tool
    def take(
        point: Point,
        colour: Colour,
        tree: Tree,
        person: Person,
        options: Options,
        pair: tuple[int, float],
        n: int | None,
    ) -> None:
        seen.update(point=point, colour=colour, tree=tree, person=person, options=options, pair=pair, n=n)

    result = await run(
        take,
        point={"x": 1.0},
        colour="blue",
        tree={"value": 1, "children": [{"value": 2}]},
        person={"name": "Ada", "age": 36},
        options={"verbose": True},
        pair=[1, 2],
        n=None,
    )
    assert result.error is None
    assert seen == {
        "point": Point(1),
        "colour": Colour.BLUE,
        "tree": Tree(1, [Tree(2)]),
        "person": Person(name="Ada", age=36),
        "options": {"verbose": True},
        "pair": (1, 2.0),
        "n": None,
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "point is missing"),
        ({"point": {"x": 1}, "colour": "green"}, "colour should be one of 'red', 'blue', and is 'green'"),
        ({"point": {"x": "one"}, "colour": "red"}, "point.x should be a whole number, and is 'one'"),
        ({"point": {"x": True}, "colour": "red"}, "point.x should be a whole number"),
        ({"point": {"z": 1}, "colour": "red"}, "point has no field 'z'; it has 'x', 'y'"),
        ({"point": {}, "colour": "red"}, "point.x is missing"),
        ({"point": 5, "colour": "red"}, "point should be an object"),
        ({"point": {"x": 1}, "colour": "red", "size": 2}, "no argument 'size'; it takes point, colour, person"),
        ({"point": {"x": 1}, "colour": "red", "person": {"name": "A", "age": -1}}, "person is refused"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model(arguments: dict[str, Any], sentence: str) -> None:
    called = False

    @tool
    def take(point: Point, colour: Colour, person: Person | None = None) -> None:
        nonlocal called
        called = True

    result = await run(take, **arguments)
    assert result.error is not None
    assert sentence in result.error
    assert result.visible_error
    assert not called


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda x: x, "needs a type"),
        (lambda *parts: parts, "cannot be called by name"),
    ],
)
def test_signatures_that_cannot_be_told_are_refused_at_once(function: Any, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError, match=sentence):
        as_tool(function)


def test_types_without_a_json_form_are_refused_by_name() -> None:
    def take(lock: threading.Thread) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"'take', parameter 'lock': Thread has no JSON form; use str"):
        tool(take)
    with pytest.raises(ToolDefinitionError, match="is no tool"):
        as_tool(cast("Any", 5))


@pytest.mark.anyio
async def test_the_context_is_handed_over_and_not_told() -> None:
    @tool
    async def who(context: SessionContext) -> str:
        return str(context)

    assert properties(who) == {}
    assert (await run(who)).content == "None"


@pytest.mark.anyio
async def test_results_become_text() -> None:
    @tool
    def give(what: Literal["text", "none", "point", "model", "set", "result"]) -> Any:
        return {
            "text": "plain",
            "none": None,
            "point": {"at": Point(1, 2)},
            "model": [Person(name="Ada", age=36)],
            "set": {2, 1},
            "result": ToolResult(content="for the model", display="for the person"),
        }[what]

    assert [(await run(give, what=what)).content for what in ("text", "none", "point", "model", "set")] == [
        "plain",
        "",
        '{"at": {"x": 1, "y": 2}}',
        '[{"name": "Ada", "age": 36}]',
        "[1, 2]",
    ]
    assert (await run(give, what="result")).display == "for the person"


@pytest.mark.anyio
async def test_bytes_and_circles_are_a_clear_error() -> None:
    @tool
    def give(what: Literal["bytes", "circle", "deep"]) -> Any:
        circle: list[Any] = []
        circle.append(circle)
        return {"bytes": b"\x00\xff", "circle": circle, "deep": {"inner": b"x"}}[what]

    for what in ("bytes", "circle", "deep"):
        result = await run(give, what=what)
        assert result.error is not None
        assert "neither text nor JSON" in result.error


@pytest.mark.anyio
@pytest.mark.parametrize(
    "error", [ValueError("secret path"), KeyError("k"), SystemExit(3), StopIteration(), RecursionError()]
)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_a_tool_raises_is_shown_only_by_choice(error: BaseException, asynchronous: bool) -> None:
    def fail() -> None:
        raise error

    async def fail_later() -> None:
        raise error

    function = fail_later if asynchronous else fail
    hidden = await run(tool(function))
    assert not hidden.visible_error
    # Python itself turns a StopIteration out of a coroutine into a RuntimeError.
    assert type(error).__name__ in (hidden.error or "")
    shown = await run(tool(show_errors=True)(function))
    assert shown.visible_error


@pytest.mark.anyio
async def test_a_tool_error_always_reaches_the_model() -> None:
    @tool
    def fail() -> None:
        raise ToolError("No such city; try 'Paris'.")

    result = await run(fail)
    assert (result.error, result.visible_error) == ("No such city; try 'Paris'.", True)


@pytest.mark.anyio
async def test_a_tool_that_hangs_is_given_up() -> None:
    released = threading.Event()

    @tool(timeout_seconds=0.05)
    def hang() -> None:
        released.wait(30)

    @tool(timeout_seconds=0.05)
    async def hang_later() -> None:
        await anyio.sleep_forever()

    for made in (hang, hang_later):
        result = await run(made)
        assert result.error == f"{made.name} did not finish within 0.05 seconds."
    released.set()


@pytest.mark.anyio
async def test_a_tool_can_be_interrupted() -> None:
    started, released = threading.Event(), threading.Event()

    @tool
    def hang() -> None:
        started.set()
        released.wait(30)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, hang)
        await anyio.to_thread.run_sync(started.wait)
        tasks.cancel_scope.cancel()
    released.set()


def test_a_tool_that_hangs_for_ever_does_not_hold_the_program(tmp_path: Path) -> None:
    script = tmp_path / "hang.py"
    script.write_text(
        "import anyio, threading\n"
        "from farhand.sdk import tool\n"
        "@tool(timeout_seconds=0.05)\n"
        "def hang() -> None:\n"
        "    threading.Event().wait()\n"
        "print(anyio.run(hang.run, {}, None).error)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=True)
    assert ended.stdout == "hang did not finish within 0.05 seconds.\n"


@pytest.mark.anyio
async def test_a_tool_sees_the_variables_of_its_caller() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")
    name.set("caller")

    @tool
    def look() -> str:
        return name.get()

    assert (await run(look)).content == "caller"


@pytest.mark.anyio
async def test_a_callable_object_is_a_tool() -> None:
    class Counter:
        """Counts."""

        async def __call__(self, step: int) -> int:
            return step + 1

    made = as_tool(Counter())
    assert (made.name, made.description) == ("Counter", "Counts.")
    assert (await made.run({"step": 1}, NO_CONTEXT)).content == "2"
