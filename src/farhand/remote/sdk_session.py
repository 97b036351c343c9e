"""An agent of the SDK as a live conversation: prompts one after the other, its events into the log."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from mimetypes import guess_type
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from farhand.model.action import Action, ActionKind, headline
from farhand.model.ask_text import as_shown
from farhand.model.errors import AskGone, BadInput, CannotDo, NotReady, UnknownAsk
from farhand.model.facts import AskRaised
from farhand.model.live_session import MessageState, Role, SessionMessage, SessionPart, SessionStatus
from farhand.model.phrases import offered
from farhand.model.present import Ask, raised_ask
from farhand.model.words import AskKind, Attachment
from farhand.remote.changes import change_told
from farhand.remote.keys import KnownKeys
from farhand.remote.log import MemoryLog
from farhand.remote.mentions import mentioned_files
from farhand.sdk import events
from farhand.sdk.agent import Agent
from farhand.sdk.errors import SdkError
from farhand.sdk.messages import clean_messages
from farhand.sdk.policies.rules import Mode
from farhand.sdk.prompt import File, Image
from farhand.sdk.protocols import Question, Reply
from farhand.sdk.session import Session

# What a call of a tool would do, by its name and its arguments.
ActionOf: TypeAlias = Callable[[str, Mapping[str, Any]], Action]
PromptPieces: TypeAlias = list[str | Image | File]
TITLE_CHARACTERS = 200


class SdkSession:
    """One session of an agent. `run` works on what was said, in its order, until it is cancelled."""

    def __init__(self, agent: Agent, session: Session, action_of: ActionOf, now: Callable[[], float]) -> None:
        self.agent, self.session = agent, session
        self._action_of = action_of
        self.log = MemoryLog(now, _status(agent, session))
        self._attached: dict[int, tuple[Attachment, ...]] = {}
        self._coming: deque[int] = deque()
        self._wake = anyio.Event()
        self._keys = KnownKeys()
        self._settled: set[str] = set()
        for message in clean_messages(session.restored):
            if message["role"] != "tool" and message["text"].strip():
                self.log.add(Role.USER if message["role"] == "user" else Role.MODEL, message["text"])

    def set_ready(self, ready: bool, why: str = "") -> None:
        """Whether something can be said: the screen is there."""
        self.log.set_status(ready=ready, why=why)

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`: all of it is there."""
        del limit
        return False

    async def say(self, text: str, key: str = "", attachments: tuple[Attachment, ...] = ()) -> SessionMessage:
        """As `LiveSession.say`."""
        if not self.log.status.ready:
            raise NotReady(self.log.status.why or "The conversation is not on its screen yet.")
        if (known := self._keys.find(key, text)) is not None:
            return self.log.get(known)
        waits = self.log.status.running
        message = self.log.add(Role.USER, text, MessageState.QUEUED if waits else MessageState.DONE)
        self._keys.add(key, text, message.id)
        self._attached[message.id] = attachments
        self._coming.append(message.id)
        self.log.set_status(running=True)
        self._wake.set()
        return message

    async def run(self) -> None:
        """Runs a turn for each message, in their order."""
        while True:
            while self._coming:
                await self._turn(self._coming.popleft())
            self.log.set_status(running=False)
            self._wake = anyio.Event()
            await self._wake.wait()

    async def interrupt(self) -> bool:
        """As `LiveSession.interrupt`."""
        return await self.session.interrupt()

    async def withdraw(self, message: int) -> bool:
        """As `LiveSession.withdraw`."""
        if message not in self._coming:
            return False
        self._coming.remove(message)
        return self.log.remove_waiting(message)

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """As `LiveSession.answer`."""
        found = next((one for one in self.log.asks if one.id == ask), None)
        if found is None:
            raise AskGone(ask, "settled", choice, "") if ask in self._settled else UnknownAsk(ask)
        known = [one.id for one in found.choices]
        if known and not set(choice.split(",") if found.several else [choice]) <= set(known):
            raise BadInput(f"The question takes {', '.join(known)}, not '{choice[:40]}'.", known=known)
        chosen = tuple(choice.split(",")) if found.several else (choice,) if choice else ()
        if not self.session.answer(ask, Reply(bool(choice or note), choice, note or choice, chosen)):
            raise AskGone(ask, "settled", choice, "")
        self._settle(ask)

    async def raw(self, keys: str) -> None:
        """As `LiveSession.raw`: there is no terminal of the agent's own."""
        del keys
        raise CannotDo("This agent has no terminal of its own to type into.")

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """As `LiveSession.watch_screen`: it has none."""
        del shown

    def notice(self, text: str) -> SessionMessage:
        """Something that the screen itself says."""
        return self.log.add(Role.NOTICE, text)

    def use_model(self, model: str) -> None:
        """Goes on with another model."""
        self.session.use_model(model)
        self.log.set_status(model=model)

    def use_mode(self, mode: Mode) -> None:
        """Lets it do more or less unasked, from the next call of a tool on."""
        self.agent.mode = mode
        self.log.set_status(mode=mode)

    async def _turn(self, message: int) -> None:
        asked = self.log.get(message)
        if asked.state is MessageState.QUEUED:
            self.log.mark(message, MessageState.DONE)
        reply = self.log.add(Role.MODEL, "", MessageState.RUNNING).id
        state = MessageState.FAILED
        try:
            prompt = pieces(asked.text, self._attached.pop(message, ()), self.agent.cwd)
            async for event in self.session.send_stream(prompt, commands=True):
                self._take(reply, event)
                if isinstance(event, events.Finish):
                    state = _ended(event)
        except (SdkError, OSError) as error:
            self.notice(f"✗ {error}")
        finally:
            for ask in self.log.asks:
                self._settle(ask.id)
            self.log.mark(reply, state)
            self.log.set_status(session_id=self.session.id, model=self.session.model_name or self.log.status.model)

    def _take(self, reply: int, event: events.Event) -> None:
        match event:
            case events.Text(text=text):
                self.log.append(reply, "text", text)
            case events.Thought(text=text, subject=subject):
                self.log.append(reply, "thought", f"{subject}: {text}" if subject else text)
            case events.ToolRequest(call_id=call, name=name, arguments=arguments):
                title, detail = _told(self._action_of(name, arguments), name, arguments, self.agent.cwd)
                self.log.add_part(reply, SessionPart(kind="tool", call=call, title=title, detail=detail))
            case events.ToolResponse(call_id=call, error=error, display=display):
                self.log.end_tool(reply, call, ok=not error, output=error or display)
            case events.Ask(question=question):
                self.log.set_asks((*self.log.asks, self._asked(question)))
            case events.Usage(total_tokens=total):
                self.log.set_status(tokens=self.log.status.tokens + total)
            case events.Notice(message=text):
                self.notice(text)
            case events.Error(message=text):
                self.notice(f"✗ {text}")
            case events.Retrying(message=text, wait_seconds=seconds):
                self.notice(f"{text} It is asked again in {seconds:.0f} s.")
            case _:
                pass

    def _asked(self, question: Question) -> Ask:
        permission = question.kind == "permission"
        choices = tuple(offered(one, permission=permission) for one in question.choices)
        raised = AskRaised(
            ask=question.id,
            question=question.text,
            choices=choices,
            about=AskKind.PERMISSION if permission else AskKind.CHOICE,
        )
        if question.call is not None:
            action = self._action_of(question.call.name, question.call.arguments)
            title, detail = _told(action, question.call.name, question.call.arguments, self.agent.cwd)
            why = str(question.call.arguments.get("description", ""))
            raised = AskRaised(
                ask=raised.ask,
                question=title,
                choices=choices,
                about=raised.about,
                detail=detail,
                action=action,
                why=why,
            )
        return raised_ask(as_shown(raised, str(self.agent.cwd)), self.agent.cwd.name, None, self.log.number, None)

    def _settle(self, ask: str) -> None:
        self._settled.add(ask)
        self.log.set_asks(tuple(one for one in self.log.asks if one.id != ask))


def pieces(text: str, attachments: tuple[Attachment, ...], directory: Path) -> PromptPieces:
    """What is sent for a message: its text, the files that came with it, and those that it names as `@path`."""
    paths = [*(Path(one.path) for one in attachments), *mentioned_files(text, directory)]
    return [text, *(Image(path) if _is_image(path) else File(path) for path in dict.fromkeys(paths))]


def _is_image(path: Path) -> bool:
    return (guess_type(path.name)[0] or "").startswith("image/")


def _told(action: Action, name: str, arguments: Mapping[str, Any], directory: Path) -> tuple[str, str]:
    """What a call does, in one line and as a whole: a change of a file as a diff."""
    plain = action.kind is ActionKind.RUN and set(arguments) <= {"command", "description"}
    whole = action.target if plain else change_told(arguments, directory)
    whole = whole or json.dumps(arguments, ensure_ascii=False, indent=2, default=str)
    return headline(action)[:TITLE_CHARACTERS] or name, whole


def _ended(finish: events.Finish) -> MessageState:
    if finish.reason == "interrupted":
        return MessageState.INTERRUPTED
    return MessageState.DONE if finish.reason == "stop" else MessageState.FAILED


def _status(agent: Agent, session: Session) -> SessionStatus:
    return SessionStatus(
        agent_type="farhand",
        wire="sdk",
        model=session.model_name,
        mode=agent.mode or "default",
        directory=str(agent.cwd),
        session_id=session.id,
    )
