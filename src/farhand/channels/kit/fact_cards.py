"""What every chat surface shows of one fact: none, one or several cards. Pure."""

import html

from farhand.channels.kit.ask_cards import ask, settled_ask, too_many_asks
from farhand.channels.kit.card import Button, Card, RetryTap
from farhand.channels.kit.review_texts import review_cards
from farhand.channels.kit.sprint_texts import sprint_cards
from farhand.channels.kit.texts import until_words
from farhand.channels.kit.turn_cards import ended, progress, tried_again, waiting, waits_no_more
from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.provenance import shown_text
from farhand.model.view import AskView, TurnView
from farhand.model.words import replace

NOBODY_NOW = "You talk to nobody now: /focus <name> chooses somebody, /team shows who is there."


def cards(event: Event, turn: TurnView | None, *, waited: bool = False) -> list[Card]:
    """What a surface shows of one fact, with its turn as it stands after it, and whether its message had to wait."""
    fact = event.fact
    match fact:
        case facts.Queued(message=message, text=text, by=by, again=again):
            waits = [waiting(event.worker, message, shown_text(text, by))] if waited else []
            return [*waits, tried_again(event.worker, again)] if again else waits
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
            return settled_ask(event, fact, turn)
        case facts.Showed(file=file):
            return [Card(key=f"file:{event.seq}", worker=event.worker, file=file)]
        case facts.Responded(text=text, html=is_html):
            shown = text.strip() if is_html else html.escape(text.strip(), quote=False)
            return [Card(key=f"response:{event.seq}", worker=event.worker, html=shown)]
        case facts.Limited():
            return _limited(event, fact)
        case facts.SprintBegan() | facts.SprintMoved() | facts.SprintEnded():
            return sprint_cards(event)
        case facts.ReviewAsked() | facts.ReviewMoved():
            return review_cards(event)
        case facts.Hired(session=session) if session:
            return [adopted(event, fact)]
        case facts.Ended(resume=resume, focus=focus) if resume:
            head = f"{event.worker.capitalize()} is handed back. Go on at the desk with:"
            foot = f"What you write goes to {focus} now." if focus else NOBODY_NOW
            return [Card(key=f"notice:{event.seq}", worker=event.worker, head=head, verbatim=resume, foot=foot)]
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


def adopted(event: Event, fact: facts.Hired) -> Card:
    """A conversation taken up: the agent's last answer in it is all that is shown of its past."""
    taken = f"{event.worker} goes on with a conversation of {fact.backend} in {fact.directory}."
    whom = "" if fact.aside else f"\nWhat you write goes to {event.worker} now."
    head = f"{taken} They'll stay on your team.{whom}"
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
        case facts.Tuned(mode=mode, model=model, effort=effort):
            changed = [
                f"mode {mode} ({mode.meaning})" if mode else "",
                f"model {model}" if model else "",
                f"effort {effort}" if effort else "",
            ]
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
