"""Runs the tool calls of one model message: hooks before and after, approval, the tool, what the model is told."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from farhand.sdk import wire
from farhand.sdk.current_call import running_call
from farhand.sdk.events import Event, Notice, ToolRequest, ToolResponse
from farhand.sdk.json_shapes import is_list, is_mapping, is_object
from farhand.sdk.protocols import HookOutcome, Part, Tool, ToolCall, ToolResult
from farhand.sdk.recording import CallRecord
from farhand.sdk.spans import tool_span

if TYPE_CHECKING:
    from farhand.sdk.session import Session

TOGETHER = frozenset({"read", "search", "fetch", "think"})
# How much of a tool's output the model sees, when the settings do not say.
OUTPUT_LIMIT_CHARACTERS = 40_000
TAIL_LIMIT = 10
HIDDEN_ERROR = "The tool failed. The person was told why."
NEVER_RAN = "This call was not run: the turn was stopped before it."
CHANGED = "\n\n[A hook changed the arguments of this call before it ran.]"
CUT_OFF = "This call was interrupted by the person; whether it had an effect is unknown."


class TurnStopped(Exception):
    """A hook stopped the turn."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What became of one call."""

    call: ToolCall
    result: ToolResult
    parts: tuple[Part, ...]
    status: str = "success"
    stopped: str | None = None


class ToolCalls:
    """The calls of one model message, run in order; neighbours that only look run side by side."""

    def __init__(self, session: Session, tools: Mapping[str, Tool], emit: Callable[[Event], Awaitable[None]]) -> None:
        self._session = session
        self._tools = tools
        self._emit = emit
        self._answers: dict[str, CallAnswer] = {}

    def recall(self, records: Sequence[CallRecord]) -> None:
        """Takes calls for ended that had ended in another process."""
        for record in records:
            result = ToolResult(content="", display=record.display)
            self._answers[record.call.id] = CallAnswer(record.call, result, tuple(record.result), record.status)

    def ended(self) -> list[CallRecord]:
        """The calls that have ended by now."""
        return [
            CallRecord(answer.call, answer.parts, answer.status, answer.result.display or answer.result.error or "")
            for answer in self._answers.values()
        ]

    async def run(self, calls: Sequence[ToolCall]) -> None:
        """Runs them all. Whatever happens, `close` can then say something about every call."""
        for group in self._groups([call for call in calls if call.id not in self._answers]):
            if len(group) == 1:
                await self._one(group[0])
            else:
                await self._together(group)
            stopped = next((answer.stopped for answer in self._answers.values() if answer.stopped is not None), None)
            if stopped is None:
                stopped = self._session.turns.take_stop()
            if stopped is not None:
                raise TurnStopped(stopped)

    def close(self, calls: Sequence[ToolCall], why: str) -> tuple[list[Part], list[CallRecord]]:
        """The parts and records of every call; those that were not finished are answered with `why`."""
        parts: list[Part] = []
        records: list[CallRecord] = []
        for call in calls:
            answer = self._answers.get(call.id) or _unfinished(call, why)
            parts += answer.parts
            display = answer.result.display or answer.result.error or ""
            records.append(CallRecord(call, answer.parts, answer.status, display))
        return parts, records

    def _groups(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        groups: list[list[ToolCall]] = []
        previous = False
        for call in calls:
            tool = self._tools.get(call.name)
            looks = tool is not None and tool.kind in TOGETHER
            if looks and previous:
                groups[-1].append(call)
            else:
                groups.append([call])
            previous = looks
        return groups

    async def _together(self, group: Sequence[ToolCall]) -> None:
        import anyio

        async with anyio.create_task_group() as tasks:
            for call in group:
                tasks.start_soon(self._one, call, name=f"tool {call.name}")

    async def _one(self, call: ToolCall) -> None:
        await self._emit(ToolRequest(call.id, call.name, call.arguments))
        with tool_span(self._session, call) as span:
            answer = await self._answer(call)
            span.ended(answer.result)
        self._answers[call.id] = answer
        result = answer.result
        await self._emit(ToolResponse(call.id, call.name, result.content, result.display, result.error, result.data))

    async def _answer(self, call: ToolCall) -> CallAnswer:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            return _failed(call, ToolResult(error=f"There is no tool '{call.name}'. Known: {known}."))
        refused, admitted, argv = await self._admit(call)
        if refused is not None:
            return refused
        with running_call(call.id, argv):
            result = await self._run(tool, admitted)
        if admitted.arguments != call.arguments and isinstance(result.content, str) and result.error is None:
            result = replace(result, content=result.content + CHANGED)
        return await self._after(admitted, result)

    async def _admit(
        self, call: ToolCall, asked: tuple[ToolCall, ...] = ()
    ) -> tuple[CallAnswer | None, ToolCall, tuple[str, ...]]:
        """Asks the hooks, then whoever has a say, then if need be a person. A refusal, or the call as it may run.

        With it comes what alone may run of a shell line that nobody was asked about; empty for all others."""
        outcome = await self._fire("BeforeTool", call, _original(asked))
        if outcome.stop:
            return replace(_unfinished(call, NEVER_RAN), stopped=outcome.stop_reason or outcome.reason), call, ()
        if outcome.decision == "deny":
            return _failed(call, ToolResult(error=f"Tool execution blocked: {outcome.reason}")), call, ()
        changed = outcome.modified.get("tool_input")
        if is_mapping(changed):
            call = replace(call, arguments=dict(changed))
        hook_asks = outcome.reason if outcome.decision == "ask" else None
        approval = await self._session.admit(call, self._tools.get(call.name), hook_asks)
        if approval.decision == "deny":
            return _failed(call, ToolResult(error=f"Tool execution denied: {approval.reason}"), "cancelled"), call, ()
        return None, call, approval.argv

    async def _run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Runs a tool and believes nothing: it may hang, raise, flood or return what is no result."""
        import anyio

        limit: float | None = self._session.agent.tool_timeout_seconds
        if getattr(tool, "timeout_seconds", limit) is None:
            # It has a limit of its own, or waits for a person, who may take their time.
            limit = None
        result: Any = None
        with anyio.move_on_after(limit) as scope:
            try:
                result = await tool.run(dict(call.arguments), self._session.context)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) or _is_ours(error):
                    raise
                return ToolResult(error=f"{call.name} failed: {type(error).__name__}: {error}", visible_error=False)
        if scope.cancelled_caught:
            return ToolResult(error=f"{call.name} did not finish within {limit:g} seconds and was given up.")
        return self._cut(call, _checked(call, result))

    def _cut(self, call: ToolCall, result: ToolResult) -> ToolResult:
        from farhand.sdk.tools import overflow

        limit = int(self._session.settings.get("tools.truncateToolOutputThreshold", OUTPUT_LIMIT_CHARACTERS))

        def cut(text: str) -> str:
            # Built-in tools cut their own output to the limit and add a line or two.
            if limit <= 0 or len(text) <= 2 * limit:
                return text
            number = self._session.next_number()
            try:
                kept = str(overflow.keep(text, self._session.context.temporary_folder, call.name, number))
            except OSError:
                kept = None
            return overflow.cut(text, limit, kept)

        if isinstance(result.content, str):
            content: str | list[Part] = cut(result.content)
        else:
            texts = [part.get("text") for part in result.content]
            pairs = zip(result.content, texts, strict=True)
            content = [{**part, "text": cut(text)} if isinstance(text, str) else part for part, text in pairs]
        return replace(result, content=content, display=overflow.cut(result.display, 2 * limit, None))

    async def _after(self, call: ToolCall, result: ToolResult, asked: tuple[ToolCall, ...] = ()) -> CallAnswer:
        response: dict[str, Any] = {"llmContent": result.content, "returnDisplay": result.display}
        if result.error is not None:
            response["error"] = {"message": result.error}
        outcome = await self._fire("AfterTool", call, {"tool_response": response, **_original(asked)})
        if outcome.decision == "deny":
            result = ToolResult(error=f"Tool result blocked: {outcome.reason}")
        tail = outcome.modified.get("tailToolCallRequest")
        if is_mapping(tail) and not outcome.stop and _goes_on(tail, (*asked, call)):
            return await self._tail(call, tail, (*asked, call))
        answer = _answered(call, result) if result.error is None else _failed(call, result)
        if outcome.additional_context:
            answer = _with_context(answer, outcome.additional_context)
        if outcome.stop:
            answer = replace(answer, stopped=outcome.stop_reason or outcome.reason)
        return answer

    async def _tail(self, call: ToolCall, tail: Mapping[str, Any], asked: tuple[ToolCall, ...]) -> CallAnswer:
        """Runs the tool that an AfterTool hook asked for; its result answers the call that the model made.

        `asked` are the calls that ran for this one already: none of them runs again."""
        arguments = tail.get("args")
        following = ToolCall(call.id, str(tail["name"]), dict(arguments) if is_mapping(arguments) else {})
        tool = self._tools.get(following.name)
        if tool is None:
            return _failed(call, ToolResult(error=f"A hook asked for the tool '{following.name}', which is not there."))
        refused, following, argv = await self._admit(following, asked)
        if refused is not None:
            return _renamed(refused, call)
        with running_call(call.id, argv):
            result = await self._run(tool, following)
        return _renamed(await self._after(following, result, asked), call)

    async def _fire(self, event_name: Any, call: ToolCall, more: dict[str, Any]) -> HookOutcome:
        hooks = self._session.hooks
        if not hooks.listens(event_name, call.name):
            return HookOutcome()
        fields = {"tool_name": call.name, "tool_input": call.arguments, **more}
        server = getattr(self._tools.get(call.name), "mcp_context", None)
        if server is not None:
            fields["mcp_context"] = server
        try:
            outcome = await hooks.fire(event_name, fields, self._session.context)
        except Exception as error:  # noqa: BLE001 - a hook is foreign code, and a broken one never lets a tool run
            return HookOutcome(decision="deny", reason=f"a {event_name} hook failed: {type(error).__name__}: {error}")
        await self._tell(outcome, event_name)
        return outcome

    async def _tell(self, outcome: HookOutcome, source: str) -> None:
        if outcome.system_message and not outcome.suppress_output:
            await self._emit(Notice(outcome.system_message, source))


def _original(asked: tuple[ToolCall, ...]) -> dict[str, Any]:
    """What a hook is told of a call that another hook asked for: the tool that the model itself had called."""
    return {"original_request_name": asked[0].name} if asked else {}


def _goes_on(tail: Mapping[str, Any], asked: tuple[ToolCall, ...]) -> bool:
    """Whether a call may run in the place of another: each does so once, or a hook would go round for ever."""
    ran = [(call.name, call.arguments) for call in asked]
    return isinstance(tail.get("name"), str) and len(ran) <= TAIL_LIMIT and (tail["name"], tail.get("args")) not in ran


def _is_ours(error: BaseException) -> bool:
    """Whether a cancellation was asked for, by a time limit or the person. A tool may raise one all by itself."""
    import asyncio

    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _checked(call: ToolCall, result: Any) -> ToolResult:
    """A result that the wire can carry, or an error that says why it cannot."""
    if not isinstance(result, ToolResult):
        return ToolResult(error=f"{call.name} returned {type(result).__name__} where a ToolResult was due.")
    if isinstance(result.content, str):
        return replace(result, content=result.content.encode("utf-8", "replace").decode())
    content: object = result.content
    if not is_list(content) or not all(is_object(part) for part in content):
        return ToolResult(
            error=f"{call.name} returned {type(result.content).__name__}; a model reads text or wire parts."
        )
    try:
        json.dumps(result.content)
    except (TypeError, ValueError) as error:
        return ToolResult(error=f"{call.name} returned parts that are no JSON: {error}.")
    return result


def _answered(call: ToolCall, result: ToolResult) -> CallAnswer:
    return CallAnswer(call, result, tuple(wire.function_response(call, result.content)))


def _failed(call: ToolCall, result: ToolResult, status: str = "error") -> CallAnswer:
    text = str(result.error) if result.visible_error else HIDDEN_ERROR
    return CallAnswer(
        call, replace(result, content=result.content or text), tuple(wire.error_response(call, text)), status
    )


def _unfinished(call: ToolCall, why: str) -> CallAnswer:
    return CallAnswer(call, ToolResult(content=why, error=why), tuple(wire.error_response(call, why)), "cancelled")


def _renamed(answer: CallAnswer, call: ToolCall) -> CallAnswer:
    """The answer of a following call, given to the call that the model knows of."""
    parts = [
        {"functionResponse": {**part["functionResponse"], "name": call.name}} if "functionResponse" in part else part
        for part in answer.parts
    ]
    return replace(answer, call=call, parts=tuple(parts))


def _with_context(answer: CallAnswer, context: str) -> CallAnswer:
    """The answer with a hook's words after the tool's own."""
    added = f"\n\n<hook_context>{context}</hook_context>"
    first, *rest = answer.parts
    response = dict(first["functionResponse"]["response"])
    key = "output" if "output" in response else "error"
    response[key] = f"{response.get(key, '')}{added}"
    part = {"functionResponse": {**first["functionResponse"], "response": response}}
    return replace(answer, parts=(part, *rest))
