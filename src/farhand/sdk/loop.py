"""The loop of one turn: ask the model, run what it calls, ask again, until it has nothing more to call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from farhand.sdk import llm, wire
from farhand.sdk.compression import compress_if_due
from farhand.sdk.errors import ModelError, SdkError
from farhand.sdk.events import Error, Event, Finish, FinishReason, Notice, Retrying, Text, Thought, usage_event
from farhand.sdk.first_message import system_instruction
from farhand.sdk.json_shapes import is_mapping
from farhand.sdk.models import RETRY_LISTENER, close_stream
from farhand.sdk.protocols import Content, HookOutcome, Part, Tool
from farhand.sdk.recording import CallRecord
from farhand.sdk.spans import SilentSpan, chat_span
from farhand.sdk.tool_calls import CUT_OFF, NEVER_RAN, ToolCalls, TurnStopped

if TYPE_CHECKING:
    from farhand.sdk.result import Result, Tally
    from farhand.sdk.session import Session
    from farhand.sdk.structured_output import Structured
    from farhand.sdk.telemetry import ChatSpan

_ENDINGS: dict[str, FinishReason] = {"STOP": "stop", "MAX_TOKENS": "length"}
_BROKEN = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE"}
)


class _End(Exception):
    """The turn is over, for this reason."""

    def __init__(self, reason: FinishReason, detail: str = "") -> None:
        super().__init__(detail)
        self.reason: FinishReason = reason
        self.detail = detail


class TurnLoop:
    """One turn of a session. Every way it can end leaves the transcript whole: each call in it has its response."""

    def __init__(
        self,
        session: Session,
        emit: Callable[[Event], Awaitable[None]],
        structured: Structured[Any] | None,
        tally: Tally,
    ) -> None:
        self._session = session
        self._emit = emit
        self._structured = structured
        self._said: list[str] = []
        self._tally = tally

    @property
    def result(self) -> Result[Any]:
        """How it ended, or how far it is."""
        return self._tally.result(None, self._session)

    @property
    def said(self) -> str:
        """What the model said so far in this round."""
        return "".join(self._said)

    async def run(self, parts: list[Part] | None) -> None:
        """Takes the prompt (or none: the last model call is repeated) to its end."""
        try:
            await self._rounds(parts)
            await self._finish("stop")
        except _End as end:
            await self._finish(end.reason, end.detail)
        except TurnStopped as stop:
            await self._finish("stopped", stop.reason)
        except SdkError as error:
            await self._emit(Error(str(error), error.kind, retryable=error.retryable, cause=error))
            await self._finish("budget" if error.kind == "budget" else "error", str(error))
        except Exception as error:  # noqa: BLE001 - instructions, hooks and models may be foreign code
            said = f"{type(error).__name__}: {error}"
            await self._emit(Error(f"The turn failed: {said}", "unexpected", cause=error))
            await self._finish("error", said)

    async def _finish(self, reason: FinishReason, detail: str = "") -> None:
        await self._emit(Finish(reason, self.said, detail, self._structured.data if self._structured else None))

    async def _rounds(self, parts: list[Part] | None) -> None:
        """One round, and another for each AfterAgent hook that is not satisfied."""
        forced = False
        while True:
            prompt = _shown(parts) if parts is not None else self._session.last_prompt
            await self._go_on()
            if parts is not None:
                await self._begin(parts, prompt)
            self._said = []
            await self._converse()
            outcome = await self._fire(
                "AfterAgent",
                {"prompt": prompt, "prompt_response": self.said, "stop_hook_active": forced},
            )
            if outcome.modified.get("clearContext"):
                self._session.clear()
                await self._emit(Notice("A hook cleared the conversation.", "AfterAgent"))
            if outcome.stop:
                raise _End("stopped", outcome.stop_reason or outcome.reason)
            if outcome.decision == "deny":
                parts, forced = [{"text": outcome.reason}], True
                continue
            parts, forced = self._session.later.take_queued(), False
            if parts is None:
                return

    async def _begin(self, parts: list[Part], prompt: str) -> None:
        outcome = await self._fire("BeforeAgent", {"prompt": prompt})
        if outcome.decision == "deny" and not outcome.stop:
            raise _End("blocked", outcome.reason)
        context = [self._session.take_opening_context(), outcome.additional_context]
        added = [{"text": f"<hook_context>{text}</hook_context>"} for text in context if text]
        self._session.conversation.add_prompt(wire.user(*parts, *added), prompt)
        if outcome.stop:
            raise _End("stopped", outcome.stop_reason or outcome.reason)

    async def _converse(self) -> None:
        """Model calls and tool calls in turn, until the model calls nothing."""
        while True:
            if self._tally.turns >= self._session.max_turns:
                raise _End("max_turns", f"The limit of {self._session.max_turns} model calls was reached.")
            self._take_steering()
            await compress_if_due(self._session)
            self._session.spending.begin_call()
            self._tally.turns += 1
            tools = await self._tools()
            content, ending = await self._ask_model(tools)
            calls = wire.calls_of(content)
            if not calls:
                if await self._settled(content, ending) and not self._take_steering():
                    return
                continue
            await self._run_calls(content, tools)

    def _take_steering(self) -> bool:
        """Adds what was said into the turn to the conversation; whether there was something."""
        said = self._session.later.take_steering()
        for parts in said:
            self._session.conversation.add_prompt(wire.user(*parts), _shown(parts))
        return bool(said)

    async def _tools(self) -> dict[str, Tool]:
        tools = await self._session.tools()
        if tools and self._structured is not None:
            tools[self._structured.name] = self._structured
        return tools

    async def _settled(self, content: Content, ending: str) -> bool:
        """Whether a message without calls ends the round. A structured answer that does not fit is asked for again."""
        if ending not in ("STOP", ""):
            raise _End(_ENDINGS.get(ending, "safety"), f"The model stopped with {ending}.")
        if self._structured is None or self._structured.done:
            return True
        complaint = self._structured.read_text(wire.text_of(content))
        if complaint is None:
            return True
        self._session.conversation.add_prompt(wire.user(complaint), self._session.last_prompt)
        return False

    async def _go_on(self) -> None:
        """Runs the calls that a turn of another process left open."""
        if not self._session.is_paused:
            return
        tools = await self._tools()
        pending = self._session.questions.take_pending()
        await self._run_calls(pending.content, tools, pending.ended)

    async def _run_calls(self, content: Content, tools: Mapping[str, Tool], ended: Sequence[CallRecord] = ()) -> None:
        calls = wire.calls_of(content)
        running = ToolCalls(self._session, tools, self._emit)
        running.recall(ended)
        self._session.questions.watch_calls(running)
        why = NEVER_RAN
        try:
            await running.run(calls)
        except BaseException as error:
            why = NEVER_RAN if isinstance(error, TurnStopped) else CUT_OFF
            raise
        finally:
            self._session.questions.watch_calls(None)
            if not self._session.questions.pausing:
                parts, records = running.close(calls, why)
                self._session.conversation.add_results({"role": "user", "parts": parts}, records)
        if self._structured is not None and self._structured.done:
            raise _End("stop")

    async def _ask_model(self, tools: Mapping[str, Tool]) -> tuple[Content, str]:
        request = await self._request(tools)
        request, ready = await self._before_model(request)
        if ready is None:
            self._session.spending.check_priced(str(request["model"]))
        with chat_span(self._session, str(request["model"])) as span:
            return await self._hear_answer(request, ready, span)

    async def _hear_answer(
        self, request: dict[str, Any], ready: dict[str, Any] | None, span: ChatSpan | SilentSpan
    ) -> tuple[Content, str]:
        gathered = _Gathered()
        if ready is not None:
            await self._take(ready, gathered)
        else:
            await self._stream(request, gathered)
        # For calls that came without an id.
        prefix = f"{self._session.id[:8]}_{len(self._session.transcript)}"
        taken = {call.id for earlier in self._session.transcript for call in wire.calls_of(earlier)}
        content = wire.with_call_ids({"role": "model", "parts": wire.join_parts(gathered.parts)}, prefix, taken)
        if gathered.ending in _BROKEN and not wire.calls_of(content):
            raise ModelError(f"The model's answer was unusable ({gathered.ending}).", retryable=True)
        usage = usage_event(gathered.usage, str(request["model"])) if gathered.usage else None
        span.ended(content, gathered.ending, usage)
        if usage is not None:
            await self._emit(self._session.spending.end_call(usage))
        # From here to the running of its calls nothing waits: an interrupt would leave them without a response.
        if wire.parts_of(content):
            self._session.conversation.add_answer(content, gathered.usage, str(request["model"]))
        elif gathered.ending in ("STOP", ""):
            raise ModelError("The model answered nothing.", retryable=True)
        return content, gathered.ending

    async def _stream(self, request: dict[str, Any], gathered: _Gathered) -> None:
        watched = llm.request_form(request) if self._session.hooks.listens("AfterModel", None) else None
        RETRY_LISTENER.set(self._tell_retry)
        stream = self._session.model.stream(request)
        try:
            async for chunk in stream:
                await self._take(chunk if watched is None else await self._after_model(watched, chunk), gathered)
        finally:
            await close_stream(stream)

    async def _tell_retry(self, attempt: int, wait_seconds: float, why: str) -> None:
        await self._emit(Retrying(attempt, wait_seconds, why))

    async def _after_model(self, asked: dict[str, Any], chunk: dict[str, Any]) -> dict[str, Any]:
        fields = {"llm_request": asked, "llm_response": llm.response_form(chunk)}
        outcome = await self._fire("AfterModel", fields)
        if outcome.stop:
            raise _End("stopped", outcome.stop_reason or outcome.reason)
        if outcome.decision == "deny":
            raise _End("blocked", outcome.reason)
        replaced = outcome.modified.get("llm_response")
        return llm.from_response_form(replaced, chunk) if is_mapping(replaced) else chunk

    async def _take(self, chunk: Mapping[str, Any], gathered: _Gathered) -> None:
        for part in wire.response_parts(chunk):
            gathered.parts.append(part)
            if wire.is_thought(part):
                subject, text = wire.thought_of(part["text"])
                await self._emit(Thought(text, subject))
            elif wire.is_text(part) and part["text"]:
                self._said.append(part["text"])
                await self._emit(Text(part["text"]))
        gathered.ending = wire.finish_reason(chunk) or gathered.ending
        gathered.usage = wire.usage_of(chunk) or gathered.usage

    async def _request(self, tools: Mapping[str, Tool]) -> dict[str, Any]:
        session = self._session
        said = [await evaluated(session.agent.instructions, session.context)]
        said += [await extender.instructions(session.context) for extender in session.extenders]
        request: dict[str, Any] = {
            "model": session.model_name,
            "contents": wire.signed(session.transcript, session.model_name),
            "systemInstruction": system_instruction(session.system_prompt, session.memory.global_text, *said),
        }
        declared = [_declaration(tool) for tool in tools.values() if session.shows(tool)]
        if self._structured is not None:
            self._structured.shape(request, declared)
        if declared:
            request["tools"] = [{"functionDeclarations": declared}]
        wanted = {**_thinking(session.model_name), **session.agent.generation, **request.get("generationConfig", {})}
        if wanted:
            request["generationConfig"] = wanted
        return request

    async def _before_model(self, request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The request as hooks leave it, and the response when a hook brought one."""
        if self._session.hooks.listens("BeforeModel", None):
            outcome = await self._fire("BeforeModel", {"llm_request": llm.request_form(request)})
            ready = outcome.modified.get("llm_response")
            if outcome.stop:
                raise _End("stopped", outcome.stop_reason or outcome.reason)
            if is_mapping(ready):
                if outcome.decision == "deny":
                    await self._emit(Notice(f"A hook answered in the model's place: {outcome.reason}", "BeforeModel"))
                return request, llm.from_response_form(ready)
            if outcome.decision == "deny":
                raise _End("blocked", outcome.reason)
            changed = outcome.modified.get("llm_request")
            if is_mapping(changed):
                request = llm.with_request_form(request, changed)
        if self._session.hooks.listens("BeforeToolSelection", None) and request.get("tools"):
            outcome = await self._fire("BeforeToolSelection", {"llm_request": llm.request_form(request)})
            choice = outcome.modified.get("toolConfig")
            if is_mapping(choice) and choice:
                request["toolConfig"] = {"functionCallingConfig": dict(choice)}
        return request, None

    async def _fire(self, event_name: Any, fields: dict[str, Any]) -> HookOutcome:
        if not self._session.hooks.listens(event_name, None):
            return HookOutcome()
        outcome = await self._session.hooks.fire(event_name, fields, self._session.context)
        if outcome.system_message and not outcome.suppress_output:
            await self._emit(Notice(outcome.system_message, event_name))
        return outcome


class _Gathered:
    """What the chunks of one answer add up to."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.ending = ""
        self.usage: dict[str, Any] = {}


async def evaluated(instructions: Any, context: Any) -> str:
    """Instructions as text: a string as it is; a function, sync or async, called with the context."""
    said = instructions(context) if callable(instructions) else instructions
    if inspect.isawaitable(said):
        said = await said
    return str(said) if said else ""


def _thinking(model_name: str) -> dict[str, Any]:
    """Asks models that think for a summary of it; older ones refuse to be asked."""
    thinks = model_name.removeprefix("models/").startswith(("gemini-2.5", "gemini-3"))
    return {"thinkingConfig": {"includeThoughts": True}} if thinks else {}


def _declaration(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": dict(tool.parameters)}


def _shown(parts: list[Part]) -> str:
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
