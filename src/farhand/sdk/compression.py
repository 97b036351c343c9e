"""When a session's conversation is compressed, and what becomes of a failure: it is told, and not retried at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farhand.sdk import wire
from farhand.sdk.errors import SdkError
from farhand.sdk.events import Error, Notice, usage_event
from farhand.sdk.spans import chat_span

if TYPE_CHECKING:
    from farhand.sdk.session import Session


async def compress_if_due(session: Session) -> None:
    """Compresses when the last request came near the model's window; after a failure, not before the next prompt."""
    from farhand.sdk.compress import DEFAULT_THRESHOLD, is_due

    history = session.conversation
    threshold = float(session.settings.get("model.compressionThreshold", DEFAULT_THRESHOLD))
    if not history.compression_failed and is_due(history.prompt_tokens, session.model_name, threshold):
        await compress_session(session, "auto")


async def compress_session(session: Session, trigger: str) -> bool:
    """Compresses now; whether the conversation got shorter."""
    from farhand.sdk.budget import BudgetExceeded
    from farhand.sdk.compress import compress

    history = session.conversation
    if session.hooks.listens("PreCompress", trigger):
        outcome = await session.hooks.fire("PreCompress", {"trigger": trigger}, session.context)
        if outcome.system_message:
            await session.emit(Notice(outcome.system_message, "PreCompress"))
    before = wire.estimate_tokens(history.contents)
    try:
        shortened = await compress(history.contents, session.model_name, lambda request: _ask_model(session, request))
    except BudgetExceeded:
        raise
    except SdkError as error:
        history.compression_failed = True
        await session.emit(Error(f"The conversation could not be shortened: {error}", "compression", fatal=False))
        return False
    history.compression_failed = shortened is None
    if shortened is None:
        return False
    history.start_over(shortened)
    after = wire.estimate_tokens(history.contents)
    await session.emit(Notice(f"Shortened from about {before} to {after} tokens.", "compression"))
    return True


async def _ask_model(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """Asks for the summary: a model call as any other, within the budgets, counted and told."""
    model = str(request["model"])
    session.spending.begin_call()
    session.spending.check_priced(model)
    with chat_span(session, model) as span:
        response = await session.model.generate(request)
        counts = wire.usage_of(response)
        usage = usage_event(counts, model) if counts else None
        span.ended(wire.model(*wire.response_parts(response)), wire.finish_reason(response), usage)
    if usage is not None:
        await session.emit(session.spending.end_call(usage))
    return response
