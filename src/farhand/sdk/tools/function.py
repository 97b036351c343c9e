"""Makes a tool of a typed function: its signature is the schema, its docstring the description."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, get_args, get_type_hints, overload

from farhand.sdk.call_function import LATE, call_within
from farhand.sdk.protocols import ToolKind, ToolResult
from farhand.sdk.tools.convert import BadArgument, convert
from farhand.sdk.tools.overflow import kept_short
from farhand.sdk.tools.result import ToolError, result_of
from farhand.sdk.tools.schema import MISSING, Schemas, ToolDefinitionError, default_of

if TYPE_CHECKING:
    from farhand.sdk.protocols import SessionContext

P = ParamSpec("P")
R = TypeVar("R")
DEFAULT_TIMEOUT_SECONDS = 600.0


class Parameter:
    """One argument that the model gives: its name, its type, and its default when it may be left out."""

    __slots__ = ("annotation", "default", "name")

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self.name, self.annotation, self.default = name, annotation, default


class FunctionTool(Generic[P, R]):
    """A tool made of a function. Called directly it is still that function."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        description: str | None = None,
        kind: ToolKind = "other",
        show_errors: bool = False,
        timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.description = inspect.cleandoc(description or function.__doc__ or "")
        self.kind = kind
        self.show_errors = show_errors
        self.timeout_seconds = timeout_seconds
        self._context_name, self._parameters = _signature(function, self.name, names or {})
        # The class that it wants `context.deps` to be of, where it says so: `SessionContext[State]`.
        self.deps_type = _deps_type(function, self._context_name, names or {})
        self.parameters = _schema(self.name, self._parameters)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult:
        """Checks the arguments, calls the function and turns what it returns, or raises, into a result."""
        try:
            values = self._values(arguments)
        except BadArgument as error:
            return ToolResult(error=f"{self.name} was called wrongly: {error}")
        if self._context_name:
            values[self._context_name] = context
        value, raised = await call_within(self.function, values, self.timeout_seconds)
        if raised is not None:
            return self._failed(raised)
        return kept_short(result_of(value, self.name), self.name, context)

    def _values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        known = {parameter.name: parameter for parameter in self._parameters}
        unknown = [name for name in arguments if name not in known]
        if unknown:
            raise BadArgument(f"there is no argument {unknown[0]!r}; it takes {', '.join(known) or 'none'}.")
        values: dict[str, Any] = {}
        for name, parameter in known.items():
            # A null for what may be left out means that it is left out.
            if name in arguments and not (arguments[name] is None and parameter.default is not MISSING):
                values[name] = convert(parameter.annotation, arguments[name], name)
            elif parameter.default is MISSING and not _takes_null(parameter, arguments):
                raise BadArgument(f"{name} is missing.")
        return values

    def _failed(self, raised: BaseException) -> ToolResult:
        if isinstance(raised, ToolError):
            return ToolResult(error=str(raised))
        if isinstance(raised, TimeoutError) and raised.args == (LATE,):
            return ToolResult(error=f"{self.name} did not finish within {self.timeout_seconds:g} seconds.")
        said = f"{type(raised).__name__}: {raised}" if str(raised) else type(raised).__name__
        return ToolResult(error=f"{self.name} failed: {said}", visible_error=self.show_errors)


def _takes_null(parameter: Parameter, arguments: Mapping[str, Any]) -> bool:
    return parameter.name in arguments and arguments[parameter.name] is None


def _signature(function: Callable[..., Any], name: str, names: Mapping[str, Any]) -> tuple[str | None, list[Parameter]]:
    context_name: str | None = None
    found: list[Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ToolDefinitionError(f"Tool {name!r}: {parameter} cannot be called by name; use plain parameters.")
        if _is_context(parameter.annotation):
            context_name = parameter.name
            continue
        if parameter.annotation is inspect.Parameter.empty:
            raise ToolDefinitionError(f"Tool {name!r}: parameter {parameter.name!r} needs a type, such as str.")
        default = MISSING if parameter.default is inspect.Parameter.empty else parameter.default
        found.append(Parameter(parameter.name, parameter.annotation, default))
    hints = _hints(function, name, [parameter.name for parameter in found], names)
    return context_name, [Parameter(each.name, hints[each.name], each.default) for each in found]


def _is_context(annotation: Any) -> bool:
    named = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return named.strip("\"'").partition("[")[0].rpartition(".")[2] == "SessionContext"


def _deps_type(function: Callable[..., Any], context_name: str | None, names: Mapping[str, Any]) -> type | None:
    if context_name is None:
        return None
    try:
        hint = _hints(function, context_name, [context_name], names)[context_name]
    except ToolDefinitionError:
        # Imported for the checker alone.
        return None
    wanted: tuple[Any, ...] = get_args(hint)
    is_plain = len(wanted) == 1 and isinstance(wanted[0], type) and not get_args(wanted[0])
    return wanted[0] if is_plain and not getattr(wanted[0], "_is_protocol", False) else None


def _hints(function: Callable[..., Any], name: str, wanted: list[str], names: Mapping[str, Any]) -> Mapping[str, Any]:
    target = function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__

    # Only what the model gives is evaluated: a context or a return type may be imported for the checker alone.
    def only_wanted() -> None: ...

    only_wanted.__annotations__ = {key: target.__annotations__[key] for key in wanted}
    try:
        return get_type_hints(only_wanted, {**getattr(target, "__globals__", {})}, dict(names), include_extras=True)
    except NameError as error:
        raise ToolDefinitionError(
            f"Tool {name!r}: {error}; a type must be imported where the tool is defined."
        ) from error


def _schema(name: str, parameters: list[Parameter]) -> dict[str, Any]:
    schemas = Schemas()
    properties: dict[str, Any] = {}
    for parameter in parameters:
        try:
            schema = schemas.of(parameter.annotation)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"Tool {name!r}, parameter {parameter.name!r}: {error}") from None
        if parameter.default is None:
            schema = _without_null(schema)
        properties[parameter.name] = schema | default_of(parameter.default)
    whole: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [parameter.name for parameter in parameters if parameter.default is MISSING]:
        whole["required"] = required
    if schemas.definitions:
        whole["$defs"] = schemas.definitions
    return whole


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    options: list[dict[str, Any]] = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    if len(options) != 1:
        return schema
    return options[0] | {key: value for key, value in schema.items() if key != "anyOf"}


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    kind: ToolKind = "other",
    show_errors: bool = False,
    timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Makes a tool of a function. `show_errors` lets the model read what the function raises (ToolError always)."""
    # Types that are local to the caller are found in its frame.
    frame = inspect.currentframe()
    names = frame.f_back.f_locals if frame is not None and frame.f_back is not None else {}
    if function is not None:
        return FunctionTool(function, names=names)

    def decorate(inner: Callable[..., Any]) -> FunctionTool[..., Any]:
        return FunctionTool(inner, names=names, **options)

    return decorate
