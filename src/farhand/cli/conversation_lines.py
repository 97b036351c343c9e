"""What the terminal conversation prints: events, the team, conversations, questions, help."""

import time

from farhand.channels.kit import queue_texts, said_elsewhere, texts
from farhand.channels.kit.ask_cards import settlement
from farhand.channels.kit.fact_cards import notice
from farhand.channels.kit.lifecycle import sentence
from farhand.channels.kit.overview import spent_words
from farhand.channels.kit.review_texts import review_lines
from farhand.channels.kit.sprint_texts import sprint_line, sprint_summary
from farhand.model import ask_text, commands, facts
from farhand.model.commands import Command
from farhand.model.facts import Event
from farhand.model.ports import SessionFound
from farhand.model.present import Ask, Present, Worker
from farhand.model.review import is_reviewer
from farhand.model.slash import Surface, help_names, help_of
from farhand.model.slash_hire import ANYWAY
from farhand.model.sprint import SprintPhase
from farhand.model.visible import for_terminal, visible
from farhand.model.words import Choice, HowEnded, Sender

HELP_OPENING = """\
A message goes to the worker that the prompt names; a busy one takes it after its turn.
@name message: to another worker. @all: to everybody online. /name message: and talk to that one from now on."""
HELP_CLOSING = """\
/help <command> tells more. Ctrl-D, and Ctrl-C on an empty line, leave as well.
A question: its number, yes, no or the words of a choice, and advice if you like: 2 not on a Friday. Several: 1,3."""


def help_text(surface: Surface, command: str = "", worker: str = "") -> str:
    """`/help`: all that can be typed and what that worker can do, on one screen; or all about one command."""
    if command:
        return help_of(surface, command) or f"No command is called '{command}'; /help lists them."
    return "\n".join(filter(None, (HELP_OPENING, help_names(surface), HELP_CLOSING, worker)))


def done_line(command: Command, worker: str, before: Present | None = None) -> str:
    """What is said of a command at once; empty for one whose facts are printed as they happen."""
    match command:
        case commands.Steer():
            return f"It goes into the running turn as soon as {worker} takes it."
        case commands.Interrupt(withdraw=withdraw):
            known = before.workers.get(worker) if before else None
            return queue_texts.stopped(known, worker, withdraw=withdraw)
        case commands.Reword() | commands.Withdraw() | commands.Relaunch() | commands.Retry() | commands.Tune():
            return texts.done(command, worker, before)
        case commands.AddTasks() | commands.SkipTask() | commands.Halt() | commands.SetAttention():
            return texts.done(command, worker)
        case commands.End(hand_back=hand_back):
            return f"{worker} is being {'handed back' if hand_back else 'let go'}."
        case _:
            return ""


def prompt(present: Present) -> str:
    """Whom the next line goes to: the worker who asks, with the numbers it takes, or the focused one and its state."""
    asks = open_asks(present)
    if asks:
        return f"{asks[0].worker} 1-{len(asks[0].choices)}> "
    focused = present.workers.get(present.focus)
    return f"{present.focus} (working)> " if focused and focused.turn else f"{present.focus}> "


def event_line(event: Event) -> str:
    """One line for what is no part of an answer; empty for what need not be shown."""
    fact, worker = event.fact, event.worker
    if is_reviewer(worker) and isinstance(fact, facts.Hired | facts.Ended | facts.CameOnline | facts.WentOffline):
        return ""
    match fact:
        case facts.ToolStarted(title=title):
            return f"  ⚙ {title}"
        case facts.ToolEnded(ok=ok, output=output):
            first = output.strip().splitlines()[0][:100] if output.strip() else "done" if ok else "failed"
            return f"  {'✓' if ok else '✗'} {first}"
        case facts.Showed(file=file):
            return f"  ▣ {file.path} {file.caption}".rstrip()
        case facts.TurnEnded(how=HowEnded.COMPLETED | HowEnded.PARKED):
            return ""
        case facts.TurnEnded(how=HowEnded.INTERRUPTED):
            return f"{worker}: ■ stopped"
        case facts.TurnEnded(how=how, error=error):
            again = f"/retry {worker} says it again." if fact.can_retry else ""
            told = f"{worker}: ✗ {how.value}{': ' + error if error else ''}"
            return "\n".join(filter(None, (told, " ".join(filter(None, (fact.advice, again))))))
        case facts.Hired(session=session) if session:
            note = f" {fact.note}" if fact.note else ""
            last = f"\nIts last answer:\n{fact.answer}" if fact.answer else ""
            goes_on = f"{worker} goes on with a conversation of {fact.backend} in {fact.directory}, mode {fact.mode}."
            return f"{goes_on}{note}{last}"
        case facts.Hired(backend=backend, mode=mode, directory=directory):
            return f"{worker} is hired ({backend}, mode {mode}, in {directory})."
        case facts.Ended(resume=resume) if resume:
            return f"{worker} is handed back. Go on at the desk with: {resume}"
        case facts.Ended():
            return f"{worker} left the team."
        case facts.Focused():
            return f"Now talking to {worker}."
        case facts.WentOffline(final=False):
            return f"{worker}'s agent ended and is started again: {fact.why}"
        case facts.WentOffline():
            return sentence(worker, fact)
        case facts.CameOnline(back=back):
            return sentence(worker, fact) if back else f"{worker} is online."
        case facts.Doubted(why=why):
            return f"{worker}: ✗ nobody can tell whether the message arrived. {why}"
        case facts.Tuned(refused=refused):
            return f"{worker}: ✗ {refused}" if refused else notice(event)
        case facts.Limited(until=until, again=before):
            # Tried again without knowing when the limit ends: that it still holds is no news.
            return f"{worker}: ✗ the usage limit is reached{_until(until)}." if until or not before else ""
        case facts.SprintBegan(sprint=sprint):
            return f"{worker} begins a sprint of {sprint.total} tasks; STOP ends it after the turn that runs."
        case facts.SprintMoved(sprint=sprint) if sprint.phase is SprintPhase.TURN:
            return sprint_line(worker, sprint, event.at, fact.usage)
        case facts.SprintEnded():
            return sprint_summary(worker, fact, event.at)
        case facts.ReviewAsked(review=review):
            by = ", ".join(one.backend for one in review.reviewers)
            return f"{worker}'s work is judged by {by} (review #{review.number})."
        case facts.ReviewMoved(review=review, ended=True):
            return review_lines(worker, review)
        case facts.LimitLifted():
            return f"{worker} is tried again: its usage limit should be over."
        case facts.Responded(text=text):
            return f"{worker}: {text}"
        case facts.Interrupted() | facts.AnswerDelivered() | facts.Noted():
            return notice(event)
        case _:
            return ""


def said_line(worker: str, text: str, by: Sender) -> str:
    """What somebody said to a worker on another surface."""
    return said_elsewhere.line(worker, text, by)


def settled_line(worker: str, settled: facts.AskSettled, ask: Ask | None) -> str:
    """Who answered a question, and what, in the words of the choice."""
    labels = {choice.id: choice.label for choice in ask.choices} if ask else {}
    return f"  {worker}: {settlement(settled, labels)}"


def session_lines(found: list[SessionFound], adopt: str = "/adopt") -> str:
    """Conversations that could be taken up, and what takes up each that nobody has; one that is open is taken over."""
    if not found:
        return "No agent has a conversation there."
    lines = []
    for one in found:
        whose = f", {one.worker} has it" if one.worker else ", open at the desk" if one.open else ""
        when = time.strftime("%d %b %H:%M", time.localtime(one.at))
        title = " ".join(for_terminal(one.title).split()) or "(no title)"
        lines.append(f"{one.backend} {one.id}  {when}{whose}\n    {title}  [{for_terminal(one.directory)}]")
        if not one.worker:
            lines.append(f"    {adopt} {one.backend} {one.id}{f' {ANYWAY}' if one.open else ''}")
    return "\n".join(lines)


def team_lines(present: Present, at: float) -> str:
    """Who is there and what they do."""
    if not present.workers:
        return "No team members yet. Add someone with /hire <name>."
    lines = []
    for worker in present.workers.values():
        mark = "›" if worker.name == present.focus else " "
        queued = f", {len(worker.queue)} queued" if worker.queue else ""
        lines.append(f"{mark} {worker.name} ({_state(worker, at)}, backend={worker.backend}{queued})")
        used = spent_words(worker.spent.total)
        effort = f"effort {worker.effort}" if worker.effort else ""
        how = [f"mode {worker.mode}", worker.model, effort, worker.directory, used]
        lines.append(f"    {', '.join(one for one in how if one)}")
    return "\n".join(lines)


def progress_lines(present: Present, at: float, of: str = "") -> str:
    """How a worker stands, the focused one where none is named."""
    worker = present.workers.get(of or present.focus)
    if worker is None and of:
        return queue_texts.cannot_find(of)
    if worker is None:
        return "Nobody is focused. /focus <name> chooses somebody."
    lines = [
        f"{worker.name}: {_state(worker, at)}",
        f"  backend: {worker.kind}",
        f"  mode:    {worker.mode}",
        f"  model:   {worker.model or 'as its agent is set'}",
        f"  effort:  {worker.effort or 'as its agent is set'}",
        f"  folder:  {worker.directory}",
        f"  waiting: {len(worker.queue)}",
    ]
    return "\n".join(lines)


def _state(worker: Worker, at: float) -> str:
    """Its state, with the reason when it is offline; an agent that never was online is on its way."""
    state = worker.state_at(at)
    if state == "limited" and worker.limited:
        return f"limited{_until(worker.limited.until or worker.resumes_at)}"
    if state != "offline":
        return state
    return f"offline: {worker.why_offline}" if worker.why_offline else "starting"


def _until(until: float | None) -> str:
    """When a limit ends, by the clock of this terminal; nothing when nobody knows."""
    return f" until {time.strftime('%d %B %H:%M', time.localtime(until))}" if until else ""


def ask_lines(worker: str, ask: Ask | facts.AskRaised, *, whole: bool = True) -> str:
    """A question with what it is about, unless that is shown already, and its numbered choices, each with all that it
    allows."""
    first, *more = visible(ask.question).split("\n")
    # No line of an agent's begins where one of ours does: none passes for another worker's question.
    lines = [f"? {worker} asks: {first}", *(f"  │ {line}" for line in more)]
    lines += (
        [f"  │ {line}" for line in visible(ask_text.whole(ask)).split("\n")] if whole and ask_text.whole(ask) else []
    )
    lines += [f"  {line}" for line in ask_text.circumstances(ask)]
    lines += [f"  {number}. {_choice_line(choice)}" for number, choice in enumerate(ask.choices, 1)]
    lines += ["  Several may be chosen, with commas between them: 1,2"] if ask.several else []
    return visible("\n".join(lines))


def _choice_line(choice: Choice) -> str:
    return f"{choice.label} ({choice.scope})" if choice.scope else choice.label


def open_asks(present: Present) -> list[Ask]:
    """The questions that nobody has answered, oldest first."""
    found = [ask for worker in present.workers.values() for ask in worker.asks if ask.settled is None]
    return sorted(found, key=lambda ask: ask.seq)
