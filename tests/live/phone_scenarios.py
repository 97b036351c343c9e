"""What every agent's CLI must bear from a phone: asks allowed and denied, and a node that is killed on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from tests.live.turn_scenarios import AskedWith

from farhand.testing.models.script import Composed, Failure, Hold, ModelScript, ScriptedReply, ScriptedText, say
from farhand.testing.phone import Phone

FIRST, SECOND = "the first half ", "and the second half"


class PhoneModel(Protocol):
    """The fake model behind the agent, and the words of its buttons."""

    allow: str
    deny: str
    # Whether the agent goes on with its turn after a no.
    goes_on: bool

    def touches(self, name: str, then: str) -> Path:
        """To `zz-<name>` the model wants to make a file, and speaks then; the file."""
        ...

    def says(self, marker: str, text: str) -> None:
        """What the model says to that."""
        ...

    def pauses(self, marker: str) -> Callable[[], None]:
        """The model says one half, and the other half when the returned function is called."""
        ...

    def looks_at_a_picture(self, marker: str, then: str) -> bool:
        """The model looks at the picture that comes with that, and speaks then; whether the agent asks before it."""
        ...

    def hears_words(self, words: str, then: str) -> bool:
        """Whether what is written beside an answer comes as a prompt of its own, at which the model speaks then."""
        ...

    def was_told(self, text: str) -> bool:
        """Whether this was in anything that the model was asked, wherever it stood there."""
        ...

    async def asked(self, marker: str) -> None:
        """Returns when the model was asked that."""
        ...


class AskedModel(Protocol):
    """What the fake models with a `ModelScript` have in common."""

    script: ModelScript

    @property
    def calls(self) -> Sequence[AskedWith]: ...

    async def asked(self, text: str, times: int = 1) -> object: ...


class ScriptedPhoneModel:
    """The fake models of Claude Code, Codex and OpenCode; `touch` is the call that makes a file."""

    allow, deny, goes_on = "Allow once", "Deny", True

    def __init__(
        self,
        model: AskedModel,
        project: Path,
        touch: Callable[[str], ScriptedReply],
        limit: Failure | None = None,
        look: Composed | None = None,
    ) -> None:
        self._model = model
        self._project = project
        self._touch = touch
        self._limit = limit
        # The call that reads a picture, where the message brings only its path.
        self._look = look

    def touches(self, name: str, then: str) -> Path:
        self._model.script.conversation(f"zz-{name}", self._touch(f"{name}.txt"), say(then))
        return self._project / f"{name}.txt"

    def says(self, marker: str, text: str) -> None:
        self._model.script.conversation(marker, say(text))

    def pauses(self, marker: str) -> Callable[[], None]:
        halves = ScriptedReply((ScriptedText(FIRST), Hold(marker), ScriptedText(SECOND)))
        self._model.script.conversation(marker, halves)
        return lambda: self._model.script.release(marker)

    def limits(self, marker: str, text: str) -> None:
        assert self._limit is not None
        self._model.script.conversation(marker, self._limit, say(text))

    def looks_at_a_picture(self, marker: str, then: str) -> bool:
        self._model.script.conversation(marker, *([self._look] if self._look else []), say(then))
        return self._look is not None

    def hears_words(self, words: str, then: str) -> bool:
        return False

    def was_told(self, text: str) -> bool:
        return any(text in str(call.body) for call in self._model.calls)

    async def asked(self, marker: str) -> None:
        await self._model.asked(marker)


async def an_ask_is_allowed_and_another_denied(phone: Phone, model: PhoneModel) -> None:
    one, two = model.touches("one", "made one"), model.touches("two", "left two")
    await phone.manager.says("zz-one")
    ask = await phone.asks("touch one.txt")
    assert not one.exists()
    await phone.manager.taps(ask, model.allow)
    await phone.hears("made one")
    assert one.exists()
    await phone.manager.says("zz-two")
    await phone.manager.taps(await phone.asks("touch two.txt"), model.deny)
    if model.goes_on:
        await phone.hears("left two")
        assert await phone.answers("left two") == 1
    assert not two.exists()
    assert await phone.answers("made one") == 1


async def an_ask_outlives_a_killed_node(phone: Phone, model: PhoneModel) -> None:
    three = model.touches("three", "made three")
    await phone.manager.says("zz-three")
    ask = await phone.asks("touch three.txt")
    await phone.kill()
    await phone.manager.taps(ask, model.allow)
    assert not three.exists()
    await phone.start()
    await phone.hears("made three")
    assert three.exists()
    assert await phone.answers("made three") == 1


async def a_node_killed_in_mid_turn_brings_the_answer_once(phone: Phone, model: PhoneModel) -> None:
    go_on = model.pauses("zz-away")
    model.says("zz-more", "still here")
    before = await phone.answers("the second half")
    await phone.manager.says("zz-away")
    await model.asked("zz-away")
    await phone.kill()
    go_on()
    await phone.manager.says("zz-more")
    await phone.start()
    # What came before may have had the same words; the next answer has not.
    await phone.hears("still here")
    assert await phone.answers("the second half") == before + 1
    assert await phone.answers("still here") == 1


async def one_worker_bears_all_that_comes_from_a_phone(phone: Phone, model: PhoneModel) -> None:
    """A start of the agent costs seconds: each promise takes it as the one before has left it."""
    await an_ask_is_allowed_and_another_denied(phone, model)
    await an_ask_outlives_a_killed_node(phone, model)
    await a_node_killed_in_mid_turn_brings_the_answer_once(phone, model)
