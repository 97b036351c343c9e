"""A view laid out with buttons: what every chat surface shows of a fact, before its own limits and markup. Pure."""

import html
from typing import TypeAlias

from farhand.channels.kit.texts import until_words
from farhand.model import asking as asks
from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.present import Ask
from farhand.model.view import AskView, TurnView
from farhand.model.visible import visible
from farhand.model.words import AskKind, Attachment, Choice, HowEnded, HowSettled, MessageId, Sender, Word, replace

TAIL_CHARACTERS = 280
LABEL_CHARACTERS = 56
TITLE_CHARACTERS = 160
NOTICE_CHARACTERS = 20_000
# How the slots begin of what shows a state that passes: it may come late, or not at all.
PROGRESS_SLOTS = ("progress:", "queued:")
_REMOVED = ":gone"


class AnswerTap(Word, tag="answer"):
    """The button settles an ask with the choice at this place."""

    ask: str
    place: int


class PickTap(Word, tag="pick"):
    """The button changes what is chosen, where several may be: the choices at these places from now on."""

    ask: str
    chosen: tuple[int, ...]


class DoneTap(Word, tag="done"):
    """The button settles an ask with the choices at these places."""

    ask: str
    chosen: tuple[int, ...]


class WordsTap(Word, tag="words"):
    """The button asks for the words that go with the choices at these places; they settle the ask."""

    ask: str
    chosen: tuple[int, ...]


class SteerTap(Word, tag="steer"):
    """The button puts a message that waits into the running turn."""

    message: str


class WithdrawTap(Word, tag="withdraw"):
    """The button takes a message back that waits."""

    message: str


class StopTap(Word, tag="stop"):
    """The button stops a turn, and no other."""

    turn: str


class RetryTap(Word, tag="retry"):
    """The button goes on with what waits although the worker's usage limit may still hold."""

    worker: str


class RelaunchTap(Word, tag="relaunch"):
    """The button starts the worker's agent again."""

    worker: str


class AdoptTap(Word, tag="adopt"):
    """The button takes a conversation up as a worker, `anyway` although it is open at the desk."""

    backend: str
    session: str
    anyway: bool = False


class HeldTap(Word, tag="held"):
    """The button says what shall become of the text that its message holds."""

    what: str


AskTap: TypeAlias = AnswerTap | PickTap | DoneTap | WordsTap
Tap: TypeAlias = AskTap | SteerTap | WithdrawTap | StopTap | RetryTap | RelaunchTap | AdoptTap | HeldTap


class Button(Word):
    """What a button says and does."""

    label: str
    tap: Tap


class Card(Word):
    """One message of a surface. A card with `edit` changes the message of its slot, one with `remove` takes it away."""

    # Names the card for ever: the same fact makes the same card under the same key.
    key: str
    slot: str = ""
    worker: str = ""
    # Our own words, then the agent's Markdown, then text shown letter by letter, then our own words again.
    head: str = ""
    markdown: str = ""
    verbatim: str = ""
    # The worker's own HTML, in place of Markdown.
    html: str = ""
    foot: str = ""
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: Attachment | None = None
    # What is in the file, when it is none on the disk.
    content: str = ""
    # Whether the file is shown as a picture; None leaves it to the surface.
    picture: bool | None = None
    # The message that this one answers, if the surface knows it: by the hub's id, by the slot of one of our own
    # messages, or by what the surface calls it.
    answers: MessageId | None = None
    answers_slot: str = ""
    answers_reference: str = ""
    # The surface should open a reply to this message.
    wants_reply: bool = False
    reaction: str = ""
    silent: bool = False
    edit: bool = False
    remove: bool = False


def plain_notice(key: str, text: str, *, answers_reference: str = "", silent: bool = False) -> Card:
    """A short message of the channel itself."""
    if (more := len(text) - NOTICE_CHARACTERS) > 0:
        text = f"{text[:NOTICE_CHARACTERS]}\n… {more:,} characters more were cut."
    return Card(key=key, head=text, answers_reference=answers_reference, silent=silent)


def removal(slot: str) -> Card:
    """Takes the message of a slot away."""
    return Card(key=f"{slot}{_REMOVED}", slot=slot, remove=True, silent=True)


def removed_slot(key: str) -> str:
    """The slot whose message the card of this key takes away; empty for any other card."""
    return key.removesuffix(_REMOVED) if key.endswith(_REMOVED) else ""


def progress_slot(turn: TurnView) -> str:
    """The slot of a turn's progress message."""
    return f"progress:{turn.worker}:{turn.turn}"


def progress(turn: TurnView, now: float) -> Card:
    """A turn that runs: its state, the tool it waits for, the time, and the end of what it has said."""
    tool = turn.running_tool
    state = "waits for you" if turn.open_asks else "is working"
    lines = [f"{turn.worker} {state} · {clock(now - turn.started_at)}"]
    if tool:
        lines.append(f"▸ {shortened(f'{tool.tool}: {tool.title}' if tool.title else tool.tool, TITLE_CHARACTERS)}")
    done = sum(1 for one in turn.tools if one.ok is not None)
    if done:
        lines.append(f"{done} {'step' if done == 1 else 'steps'} done")
    if tail := tail_of(turn.text):
        lines += ["", tail]
    slot = progress_slot(turn)
    stop = Button(label="Stop", tap=StopTap(turn=turn.turn))
    return Card(key=slot, slot=slot, worker=turn.worker, head="\n".join(lines), silent=True, buttons=((stop,),))


def tail_of(text: str) -> str:
    """The end of what was said, from the beginning of a word."""
    tail = text[-TAIL_CHARACTERS:].strip()
    if len(text.strip()) <= TAIL_CHARACTERS:
        return tail
    _, space, rest = tail.partition(" ")
    return f"… {rest.lstrip()}" if space and rest else f"…{tail}"


def clock(seconds: float) -> str:
    """A time as people say it."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


def shortened(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def cards(event: Event, turn: TurnView | None, *, waited: bool = False) -> list[Card]:
    """What a surface shows of one fact, with its turn as it stands after it, and whether its message had to wait."""
    fact = event.fact
    match fact:
        case facts.Queued(message=message, text=text) if waited:
            return [waiting(event.worker, message, text)]
        case facts.Reworded(message=message, text=text) if waited:
            return [replace(waiting(event.worker, message, text), key=f"queued:{message}:{event.seq}", edit=True)]
        case facts.TurnStarted() if turn is not None:
            over = [waits_no_more(turn.message)] if waited and turn.message else []
            return [progress(turn, event.at), *over]
        case facts.Withdrawn(message=message) if waited:
            return [waits_no_more(message)]
        case facts.TurnEnded() if turn is not None:
            return ended(turn)
        case facts.AskRaised(unasked=unasked):
            return [too_many_asks(event) if unasked else ask(event.worker, AskView(raised=fact))]
        case facts.AskSettled():
            return _settled(event, fact, turn)
        case facts.Showed(file=file):
            return [Card(key=f"file:{event.seq}", worker=event.worker, file=file)]
        case facts.Responded(text=text, html=is_html):
            shown = text.strip() if is_html else html.escape(text.strip(), quote=False)
            return [Card(key=f"response:{event.seq}", worker=event.worker, html=shown)]
        case facts.Limited():
            return _limited(event, fact)
        case facts.Hired(session=session) if session:
            return [adopted(event, fact)]
        case facts.Ended(resume=resume) if resume:
            head = f"{event.worker.capitalize()} is handed back. Go on at the desk with:"
            return [Card(key=f"notice:{event.seq}", worker=event.worker, head=head, verbatim=resume)]
        case facts.HandedOver(message=message):
            taken = Card(key=f"taken:{message}", answers=message, reaction="👀", silent=True)
            joined = waited and turn is not None and turn.message != message
            return [taken, waits_no_more(message)] if joined else [taken]
        case _:
            text = notice(event)
            key = f"ask:{fact.ask}:problem" if isinstance(fact, facts.AnswerDelivered) else f"notice:{event.seq}"
            worker = "" if isinstance(fact, facts.Ended) else event.worker
            card = Card(key=key, worker=worker, head=text, silent=_is_silent(event))
            over = [waits_no_more(fact.message)] if isinstance(fact, facts.Doubted) and waited else []
            return [card, *over] if text else []


def ended(turn: TurnView) -> list[Card]:
    """The answer of a turn, and the end of its progress message."""
    end = turn.ended
    how = end.how if end else HowEnded.COMPLETED
    why = f": {shortened(end.error, 600)}" if end and end.error else "."
    foot = {
        HowEnded.COMPLETED: "" if turn.text.strip() else "✓ Done.",
        HowEnded.FAILED: f"✗ Failed{why}",
        HowEnded.INTERRUPTED: "■ Stopped.",
        HowEnded.LOST: f"? Lost{why}",
        HowEnded.PARKED: "⏸ Stopped by the usage limit. Your message waits, and goes on by itself.",
    }[how]
    gone = removal(progress_slot(turn))
    if how is HowEnded.PARKED and not turn.text.strip():
        # The limit itself was shown; that it still holds at the next try is no news.
        return [gone]
    return [
        Card(
            key=f"answer:{turn.worker}:{turn.turn}",
            slot=f"answer:{turn.worker}:{turn.turn}",
            worker=turn.worker,
            markdown=turn.text.strip(),
            foot=foot,
            answers=turn.message,
        ),
        gone,
    ]


def adopted(event: Event, fact: facts.Hired) -> Card:
    """A conversation taken up: the agent's last answer in it is all that is shown of its past."""
    name = event.worker.capitalize()
    head = f"{name} goes on with a conversation of {fact.backend} in {fact.directory}. They'll stay on your team."
    introduction = "\n\nIts last answer:" if fact.answer else ""
    note = f"\n{fact.note}" if fact.note else ""
    key = f"notice:{event.seq}"
    return Card(key=key, worker=event.worker, head=head + note + introduction, markdown=fact.answer, silent=True)


def _limited(event: Event, fact: facts.Limited) -> list[Card]:
    """A limit is shown once, with its end; tried again without knowing when it ends, it is no news."""
    if fact.again and fact.until is None:
        return []
    when = until_words(fact.until) or "; nobody knows until when"
    retry = Button(label="Try now", tap=RetryTap(worker=event.worker))
    return [
        Card(
            key=f"notice:{event.seq}",
            worker=event.worker,
            head=f"{event.worker} has reached its usage limit{when}. What waits goes on by itself.",
            buttons=((retry,),),
            silent=bool(fact.again),
        )
    ]


def waiting(worker: str, message: MessageId, text: str) -> Card:
    """A message that waits for its turn: it can be put into the running one, or taken back."""
    now = Button(label="Say it now", tap=SteerTap(message=message))
    back = Button(label="Take it back", tap=WithdrawTap(message=message))
    return Card(
        key=f"queued:{message}",
        slot=f"queued:{message}",
        worker=worker,
        head=f"{worker} is busy, this waits: {visible(shortened(text, TITLE_CHARACTERS)) or 'a file'}",
        buttons=((now, back),),
        answers=message,
        silent=True,
    )


def waits_no_more(message: MessageId) -> Card:
    """The end of a waiting message's card."""
    return removal(f"queued:{message}")


def too_many_asks(event: Event) -> Card:
    """Told once a turn: the same key is sent once."""
    head = f"{event.worker} has too many questions open: what it asks now is denied until you answer some."
    return Card(key=f"ask:too-many:{event.worker}:{event.turn}", worker=event.worker, head=head)


def open_ask(ask_now: Ask, chosen: tuple[int, ...], key: str) -> Card:
    """An ask that is open, drawn again with some of its choices made."""
    raised = asks.raised_again(ask_now)
    return replace(ask(ask_now.worker, AskView(raised=raised), chosen), key=key, edit=True)


def ask(worker: str, shown: AskView, chosen: tuple[int, ...] = ()) -> Card:
    """A question with a button for every answer, or, once settled, with who answered and how."""
    raised = shown.raised
    slot = f"ask:{raised.ask}"
    verb = "has a plan" if raised.about is AskKind.PLAN and raised.detail else "asks"
    whole = visible(asks.whole(raised))
    card = Card(
        key=slot,
        slot=slot,
        worker=worker,
        head=f"{worker} {verb}: {visible(raised.question)}",
        markdown=whole if raised.about is AskKind.PLAN else "",
        verbatim="" if raised.about is AskKind.PLAN else whole,
        foot=visible("\n".join(asks.circumstances(raised))),
    )
    if shown.settled is None:
        foot = "\n".join([*filter(None, [card.foot]), *asks.beyond_buttons(raised, LABEL_CHARACTERS)])
        return replace(card, foot=foot, buttons=_ask_buttons(raised, chosen))
    settled = settlement(shown.settled, {choice.id: choice.label for choice in raised.choices})
    foot = "\n".join(part for part in (card.foot, settled) if part)
    return replace(card, key=f"{slot}:settled", foot=foot, edit=True)


def _ask_buttons(raised: facts.AskRaised, chosen: tuple[int, ...]) -> tuple[tuple[Button, ...], ...]:
    """A row for every choice, refusals last; where several may be made, each can be ticked before they are sent."""
    rows = [_choice_row(raised, place, choice, chosen) for place, choice in enumerate(raised.choices)]
    if raised.several and chosen:
        done = Button(label=f"✓ Send {len(chosen)}", tap=DoneTap(ask=raised.ask, chosen=chosen))
        first_refusal = next((place for place, one in enumerate(raised.choices) if not one.allows), len(rows))
        rows.insert(first_refusal, (done,))
    return tuple(rows)


def _choice_row(raised: facts.AskRaised, place: int, choice: Choice, chosen: tuple[int, ...]) -> tuple[Button, ...]:
    label = shortened(visible(choice.label), LABEL_CHARACTERS) or choice.id
    plain = Button(label=label, tap=AnswerTap(ask=raised.ask, place=place))
    if not choice.allows:
        why = Button(label=f"{shortened(choice.label, 40)}, and say why", tap=WordsTap(ask=raised.ask, chosen=(place,)))
        return (plain, why) if choice.words else (plain,)
    if choice.words:
        return (Button(label=f"✎ {label}", tap=WordsTap(ask=raised.ask, chosen=(*chosen, place))),)
    if not raised.several:
        return (plain,)
    ticked = place in chosen
    after = tuple(one for one in chosen if one != place) if ticked else tuple(sorted({*chosen, place}))
    return (Button(label=f"{'☑' if ticked else '☐'} {label}", tap=PickTap(ask=raised.ask, chosen=after)),)


def settlement(settled: facts.AskSettled, labels: dict[str, str]) -> str:
    """Who answered, and what."""
    made = [settled.choice] if settled.choice in labels else settled.choice.split(",")
    answer = ", ".join(labels.get(one, one) for one in made)
    match settled.how:
        case HowSettled.ANSWERED:
            return f"→ {answer}{_said(settled.note)}{by(settled.by)}"
        case HowSettled.DESK:
            return "→ answered at the desk"
        case HowSettled.EXPIRED:
            return f"→ nobody answered in time{f': {answer}' if answer else ''}"
        case HowSettled.WITHDRAWN:
            return "→ no longer asked"


def _said(note: str) -> str:
    return f" (“{shortened(visible(note), 300)}”)" if note.strip() else ""


def by(sender: Sender | None) -> str:
    """Who it was, as a phrase."""
    if sender is None:
        return ""
    return f", by {sender.who} over {sender.via}" if sender.who else f", over {sender.via}"


def _settled(event: Event, fact: facts.AskSettled, turn: TurnView | None) -> list[Card]:
    shown = next((one for one in turn.asks if one.raised.ask == fact.ask), None) if turn else None
    if shown is not None:
        return [] if shown.raised.unasked else [ask(event.worker, shown)]
    # The question itself is out of sight; its buttons must go all the same.
    slot = f"ask:{fact.ask}"
    foot = f"{event.worker}'s question: {settlement(fact, {})}"
    return [Card(key=f"{slot}:settled", slot=slot, worker=event.worker, head=foot, edit=True, silent=True)]


def notice(event: Event) -> str:
    """One line about a fact that is no part of a turn's talk; empty for facts that need none."""
    name = event.worker
    match event.fact:
        case facts.Ended():
            return f"{name.capitalize()} removed from your team."
        case facts.Doubted(why=why):
            return f"{name} may not have got your message: {why} It was not sent again."
        case facts.Tuned(refused=refused) if refused:
            return f"{name} cannot change that: {refused}"
        case facts.Tuned(mode=mode, model=model):
            changed = [f"mode {mode} ({mode.meaning})" if mode else "", f"model {model}" if model else ""]
            return f"{name} changed: {', '.join(one for one in changed if one)}."
        case facts.Interrupted(problem=problem) if problem:
            return f"{name} could not be stopped: {problem}"
        case facts.AnswerDelivered(problem=problem) if problem:
            return f"{name} did not get your answer: {problem}"
        case facts.Noted(text=text):
            return f"{name}: {text}"
        case _:
            return ""


def _is_silent(event: Event) -> bool:
    """Whether a notice leaves the phone in peace: only what needs a person buzzes."""
    return not isinstance(event.fact, facts.Doubted | facts.AnswerDelivered | facts.Interrupted)
