"""Makes a hook of a typed function. The event, `"BeforeTool"` say, decides what it is told and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Protocol, TypeAlias, TypeVar, overload

from farhand.sdk.hooks import words as w

if TYPE_CHECKING:
    from farhand.sdk.protocols import SessionContext

I = TypeVar("I", bound=w.HookInput)  # noqa: E741
O = TypeVar("O", bound=w.HookOutput)  # noqa: E741
Input = TypeVar("Input", bound=w.HookInput)
GivenOutput = TypeVar("GivenOutput", bound=w.HookOutput)
DEFAULT_TIMEOUT_SECONDS = 60.0

if TYPE_CHECKING:
    Handler: TypeAlias = (
        Callable[[Input], GivenOutput | Awaitable[GivenOutput | None] | None]
        | Callable[[Input, SessionContext], GivenOutput | Awaitable[GivenOutput | None] | None]
    )


class Hook(Generic[I, O]):
    """A hook in Python: an event, which of them, and the function that hears of it."""

    def __init__(
        self,
        handler: Handler[I, O],
        event: w.EventName,
        *,
        matcher: str | None = None,
        name: str | None = None,
        sequential: bool = False,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    ) -> None:
        if event not in w.WORDS:
            raise ValueError(f"There is no hook event {event!r}. Known: {', '.join(w.WORDS)}.")
        if problem := w.matcher_problem(event, matcher):
            raise ValueError(f"The hook for {event} cannot be used: {problem}")
        self.handler = handler
        self.event = event
        self.matcher = matcher
        self.name = name or str(getattr(handler, "__name__", "hook"))
        self.sequential = sequential
        self.timeout_seconds = timeout_seconds
        self.takes_context = _parameter_count(handler) > 1

    def __call__(self, event: I, context: SessionContext | None = None) -> O | Awaitable[O | None] | None:
        handler: Any = self.handler
        answer: O | Awaitable[O | None] | None = handler(event, context) if self.takes_context else handler(event)
        return answer

    def run_as_command(self) -> NoReturn:
        """Makes a command of the script it is called in: reads the event from stdin, answers on stdout, and exits."""
        from farhand.sdk.hooks.command import run

        raise SystemExit(run(self))


class Decorator(Protocol[I, O]):
    """Makes a hook of a function of the right type."""

    def __call__(self, handler: Handler[I, O], /) -> Hook[I, O]: ...


def _parameter_count(handler: Callable[..., Any]) -> int:
    code = getattr(handler, "__code__", None)
    if code is not None and not hasattr(handler, "__self__"):
        return int(code.co_argcount)
    import inspect

    return len(inspect.signature(handler).parameters)


@overload
def hook(
    event: Literal["SessionStart"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.SessionStartInput, w.SessionStartOutput]: ...
@overload
def hook(
    event: Literal["SessionEnd"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.SessionEndInput, w.SessionEndOutput]: ...
@overload
def hook(
    event: Literal["BeforeAgent"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.BeforeAgentInput, w.BeforeAgentOutput]: ...
@overload
def hook(
    event: Literal["AfterAgent"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.AfterAgentInput, w.AfterAgentOutput]: ...
@overload
def hook(
    event: Literal["BeforeModel"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.BeforeModelInput, w.BeforeModelOutput]: ...
@overload
def hook(
    event: Literal["AfterModel"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.AfterModelInput, w.AfterModelOutput]: ...
@overload
def hook(
    event: Literal["BeforeToolSelection"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.BeforeToolSelectionInput, w.BeforeToolSelectionOutput]: ...
@overload
def hook(
    event: Literal["BeforeTool"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.BeforeToolInput, w.BeforeToolOutput]: ...
@overload
def hook(
    event: Literal["AfterTool"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.AfterToolInput, w.AfterToolOutput]: ...
@overload
def hook(
    event: Literal["PreCompress"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.PreCompressInput, w.PreCompressOutput]: ...
@overload
def hook(
    event: Literal["Notification"],
    matcher: str | None = ...,
    *,
    name: str | None = ...,
    sequential: bool = ...,
    timeout_seconds: float = ...,
) -> Decorator[w.NotificationInput, w.NotificationOutput]: ...
def hook(event: Any, matcher: str | None = None, **options: Any) -> Any:
    """Makes a hook of a function that takes what the event tells (and, if it likes, the context)."""

    def decorate(handler: Handler[Any, Any], /) -> Hook[Any, Any]:
        return Hook(handler, event, matcher=matcher, **options)

    return decorate
