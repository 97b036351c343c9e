"""The errors of the SDK: a sentence for a person, fields for a program.

SdkError
├── ModelError            the model could not be asked or did not answer properly (`retryable`: a repeat may help)
│   ├── ModelRefused      an HTTP status that says no (`status`)
│   └── StreamCut         the answer's stream ended before its end; the turn can be repeated
├── FakeExhausted         a fake model was asked more than it has answers for
├── SessionNotFound       no recorded session of that id in this project
├── RecordingTaken          somebody else writes, or has written, to the same recorded session
├── SessionBusy           a second prompt while a turn is running
├── BadAgent              an agent that cannot be made as it was asked for
├── BudgetExceeded        a budget is spent (`what`, `limit`, `spent`, `result`: how far the run got) (budget)
├── BadPrompt             a prompt, image or file that cannot be sent
├── PolicyError           a rule or mode that cannot be used, or what a rule denies to a tool's own code (policies)
├── SubagentError         a subagent that cannot be made (subagents)
├── ExtensionError        an extension or command that cannot be used (extensions)
└── BadAnswer             structured output that does not fit its type, after the model was told so
    └── NoAnswer          the turn ended before there was one (`result`: how far it got)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.result import Result


class SdkError(Exception):
    """Anything the SDK says went wrong."""

    kind = "sdk"
    retryable = False


class ModelError(SdkError):
    """The model could not be asked, or what it answered cannot be used."""

    kind = "model"

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class NoKey(ModelError):
    """No API key for this model."""

    kind = "no_key"


class ModelRefused(ModelError):
    """The model's server answered with an error status."""

    kind = "model_refused"

    def __init__(self, status: int, detail: str, *, retryable: bool, attempts: int = 1) -> None:
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        super().__init__(f"The model's server answered {status}{tried}: {detail}", retryable=retryable)
        self.status = status
        self.detail = detail


class StreamCut(ModelError):
    """The stream ended before the model was done."""

    kind = "stream_cut"

    def __init__(self, detail: str) -> None:
        super().__init__(
            f"The model's answer was cut off ({detail}). Nothing of it was kept; the turn can be repeated.",
            retryable=True,
        )


class FakeExhausted(SdkError):
    """A fake model has no answer left, or the next one is for another method."""

    kind = "fake_exhausted"


class SessionNotFound(SdkError):
    """No recorded session of that id."""

    kind = "session_not_found"

    def __init__(self, session_id: str, folder: str, known: list[str]) -> None:
        listing = f" Recorded there: {', '.join(known[:8])}." if known else " None is recorded there."
        super().__init__(f"No session '{session_id}' in {folder}.{listing}")
        self.session_id = session_id
        self.known = known


class SessionBusy(SdkError):
    """A second prompt came while a turn was running."""

    kind = "session_busy"


class RecordingTaken(SdkError):
    """Somebody else writes to the recorded session, or has gone on with it."""

    kind = "session_taken"


class BadAgent(SdkError):
    """An agent, or a part of one, that cannot be made as it was asked for."""

    kind = "bad_agent"


class BadPrompt(SdkError):
    """A prompt that cannot be sent."""

    kind = "bad_prompt"


class BadAnswer(SdkError):
    """The model's structured answer does not fit the type that was asked for."""

    kind = "bad_answer"


class NoAnswer(BadAnswer):
    """The turn ended before the answer that was asked for; `result` has how far it got."""

    kind = "no_answer"

    def __init__(self, result: Result[Any], *, typed: bool = True) -> None:
        why = f"ended ({result.reason}) without one. {result.detail}" if typed else "was not asked for any type."
        super().__init__(f"There is no answer of a type: the turn {why}".strip())
        self.result = result
