"""What a command means for the present: the facts it makes, or why it is refused. Pure."""

from itertools import chain, count
from pathlib import PurePath
from typing import assert_never

from farhand.core import review_moves, sprint_moves
from farhand.core.hire_policy import HirePolicy
from farhand.core.sprint_moves import is_free
from farhand.model import attention, commands, errors, facts, failed_turns, sprint
from farhand.model.answers import choices_made
from farhand.model.commands import Command
from farhand.model.facts import Draft, Fact
from farhand.model.failed_turns import TRIED_ALREADY
from farhand.model.names import LONGEST, again, is_model_name, normalize, origin
from farhand.model.plain_orders import PlainOrder, can_stop, last_said, not_begun, order_for
from farhand.model.ports import SessionFound
from farhand.model.present import Ask, Message, Present, Worker, kind_of
from farhand.model.provenance import INTRODUCED_BY, is_by_pipe, writer
from farhand.model.review import is_reviewer
from farhand.model.words import HowSettled, Mode, Sender
from farhand.model.worker_names import RESERVED, worker_name

OPEN_AT_THE_DESK = "It is still open at the desk: close it there, for what both write goes into one conversation."
OPEN_OR_NOT_UNKNOWN = "Nobody can tell whether it is still open at the desk; if it is, close it there."
NOTHING_FAILED = "Nothing of {worker}'s failed last, and no usage limit holds it up."
NOT_YOURS = "That message is from {who}: take it back and say your own, for what you write would be heard as theirs."
# Each allows more than the one before it.
_MODES = (Mode.PLAN, Mode.DEFAULT, Mode.AUTO_EDIT, Mode.YOLO)


def message_id(command: commands.Say | commands.SendFindings, sender: Sender) -> str:
    """A message's own id; two channels may choose the same id for a command, and it is still two messages."""
    return f"{sender.via}:{command.id}"


def decide(
    present: Present, command: Command, sender: Sender, policy: HirePolicy, found: SessionFound | None = None
) -> list[Draft]:
    """The facts that follow from the command. Raises Refused, and then nothing follows.

    `found` is the conversation that a Hire wants to take up."""
    match command:
        case commands.Hire():
            return _hire(present, command, sender, policy, found)
        case commands.End():
            return _end(present, command, sender, policy)
        case commands.Focus(worker=name):
            worker = find(present, name)
            return [_draft(worker, facts.Focused(by=sender))]
        case commands.Say():
            return _say(present, command, sender)
        case commands.Reword(message=message, text=text):
            return _reword(present, message, text, sender)
        case commands.Steer(message=message):
            worker, waiting = _waiting(present, message)
            return [] if waiting.steer else [_draft(worker, facts.SteerAsked(message=waiting.id, by=sender))]
        case commands.Withdraw(message=message):
            worker, waiting = _waiting(present, message)
            return [_draft(worker, facts.Withdrawn(message=waiting.id, by=sender))]
        case commands.Reorder(messages=messages):
            return _reorder(present, messages, sender)
        case commands.Answer():
            return _answer(present, command, sender)
        case commands.Interrupt(worker=name, withdraw=withdraw):
            return _interrupt(find(present, name), sender, withdraw=withdraw)
        case commands.Relaunch(worker=name):
            return [_draft(_not_leaving(present, name), facts.RelaunchAsked(by=sender))]
        case commands.Retry(worker=name):
            return _retry(_not_leaving(present, name), command.turn, sender)
        case commands.Tune(worker=name):
            return _tune(_not_leaving(present, name), command, sender, policy)
        case commands.Sprint(worker=name):
            worker = _not_leaving(present, name)
            if command.review:
                # Whoever cannot be hired to judge is told now, and not when the first task waits for it.
                review_moves.for_sprint(present, worker, command.review, policy, "")
            return sprint_moves.begin(worker, command, sender)
        case commands.AddTasks(worker=name) | commands.SkipTask(worker=name) | commands.Halt(worker=name):
            return sprint_moves.change(find(present, name), command, sender)
        case commands.Review(worker=name):
            return review_moves.begin(present, _not_leaving(present, name), command, sender, policy)
        case commands.CancelReview(worker=name):
            return review_moves.cancel(find(present, name), command, sender)
        case commands.SendFindings(worker=name):
            worker = _spoken_to(present, name, anyway=False)
            moved, text = review_moves.sent_back(worker, command, sender)
            return [moved, *_queued(worker, facts.Queued(message=message_id(command, sender), text=text, by=sender))]
        case commands.SetAttention(settings=settings):
            if problem := attention.problem_of(settings):
                raise errors.BadInput(problem)
            return [Draft(worker="", fact=facts.AttentionSet(settings=settings, by=sender))]
        case commands.Respond(worker=name, text=text, html=html):
            return [_draft(find(present, name), facts.Responded(text=_not_empty(text), html=html))]
        case _:
            assert_never(command)


def find(present: Present, name: str) -> Worker:
    """The worker of that name, or the focused one when no name is given."""
    if not name:
        focused = present.workers.get(present.focus)
        if focused is None:
            raise errors.NoFocus(present.workers)
        return focused
    worker = present.workers.get(name) or present.workers.get(normalize(name))
    if worker is None:
        raise errors.UnknownWorker(name, present.workers)
    return worker


def _not_leaving(present: Present, name: str) -> Worker:
    worker = find(present, name)
    if worker.ending:
        raise errors.Leaving(worker.name)
    return worker


def _draft(worker: Worker, fact: Fact) -> Draft:
    return Draft(worker=worker.name, turn=worker.turn.id if worker.turn else None, fact=fact)


def _end(present: Present, command: commands.End, sender: Sender, policy: HirePolicy) -> list[Draft]:
    worker = find(present, command.worker)
    if command.hand_back and worker.kind not in policy.resumable:
        raise errors.CannotDo(f"The conversations of {worker.backend} cannot be handed back.", worker=worker.name)
    if command.hand_back and not worker.session:
        raise errors.CannotDo(f"{worker.name} has had no conversation yet.", worker=worker.name)
    return [] if worker.ending else [_draft(worker, facts.EndAsked(by=sender, hand_back=command.hand_back))]


def _interrupt(worker: Worker, sender: Sender, *, withdraw: bool) -> list[Draft]:
    """Stops the running turn. With `withdraw`, and where none runs, what waits to become one is taken back: what is
    paused runs neither next nor later."""
    if not can_stop(worker):
        raise errors.NothingRunning(worker.name)
    stop = [_draft(worker, facts.InterruptAsked(by=sender))] if worker.turn is not None else []
    back = not_begun(worker) if withdraw or not stop else []
    return [*stop, *(_draft(worker, facts.Withdrawn(message=one.id, by=sender)) for one in back)]


def _ordered(worker: Worker, command: commands.Say, sender: Sender) -> list[Draft]:
    """What follows from a message that is nothing but an order; nothing where there is nothing to stop or take back."""
    order = None if is_by_pipe(sender) or command.attachments else order_for(worker, command.text)
    if order is PlainOrder.STOP and can_stop(worker):
        return _interrupt(worker, sender, withdraw=True)
    last = last_said(worker) if order is PlainOrder.TAKE_BACK else None
    return [_draft(worker, facts.Withdrawn(message=last.id, by=sender))] if last else []


def _retry(worker: Worker, turn: str, sender: Sender) -> list[Draft]:
    """Says the message of a failed turn again, as its sender's, once; or has what waits for a limit go on."""
    if worker.resumes_at is not None and not turn:
        return [_draft(worker, facts.LimitLifted(by=sender))]
    failed = failed_turns.chosen(worker.failed, turn)
    if failed is None:
        why = TRIED_ALREADY if turn else NOTHING_FAILED.format(worker=worker.name)
        raise errors.CannotDo(why, worker=worker.name)
    if worker.is_offline:
        raise errors.Offline(worker.name, worker.why_offline)
    before = failed.message
    return _queued(
        worker,
        facts.Queued(
            message=again(before.id),
            text=before.text,
            attachments=before.attachments,
            by=before.by,
            again=failed.turn,
        ),
    )


def check_model(model: str) -> None:
    """Raises BadInput for what no model is called."""
    if model and not is_model_name(model):
        raise errors.BadInput("A model's name has no blanks, and begins with no hyphen.", model=model[:100])


def _tune(worker: Worker, command: commands.Tune, sender: Sender, policy: HirePolicy) -> list[Draft]:
    model, mode, effort = command.model, command.mode, command.effort
    if model is None and mode is None and effort is None:
        raise errors.BadInput("Tune needs a model, a mode or an effort.")
    policy.check_mode(mode)
    check_model(model or "")
    if effort is not None:
        policy.check_effort(worker.kind, effort)
    return [_draft(worker, facts.TuneAsked(model=model, mode=mode, effort=effort, by=sender))]


def _hire(
    present: Present, command: commands.Hire, sender: Sender, policy: HirePolicy, found: SessionFound | None
) -> list[Draft]:
    backend = policy.backend_of(command)
    policy.check(backend, command.options)
    mode = _mode(command, policy, found)
    policy.check_mode(mode)
    if command.effort:
        policy.check_effort(kind_of(backend, command.options), command.effort)
    check_model(command.model)
    if found is not None:
        check_free(present, found, anyway=command.anyway)
    if not command.directory.isprintable():
        raise errors.BadInput("A directory's name is made of printable characters.")
    directory = found.directory if found else policy.folder(command.directory)
    name = worker_name(command.worker) if command.worker else free_name(directory, present)
    if name in present.workers:
        raise errors.NameTaken(name)
    policy.check_folder(directory)
    hired = facts.Hired(
        backend=backend,
        directory=directory,
        # What is stored of a conversation is a file that an agent can write.
        model=command.model or (found.model if found and is_model_name(found.model) else ""),
        mode=mode,
        effort=command.effort,
        options=command.options,
        session=found.id if found else "",
        answer=found.answer if found else "",
        note=_note(found),
        by=sender,
        aside=not command.focus,
    )
    drafts = [Draft(worker=name, fact=hired)]
    if command.focus:
        drafts.append(Draft(worker=name, fact=facts.Focused(by=sender, before=present.focus)))
    return drafts


def _mode(command: commands.Hire, policy: HirePolicy, found: SessionFound | None) -> Mode:
    """What is said; else what the conversation had at the desk (it asks, where nobody knows); else the node's.

    What it had is read off a file that an agent may have written: it never allows more than the node's own mode."""
    if command.mode is not None:
        return command.mode
    if found is not None:
        had = Mode(found.mode) if found.mode in set(Mode) else Mode.DEFAULT
        return min(had, policy.mode, key=_MODES.index) if had in (Mode.AUTO_EDIT, Mode.YOLO) else had
    return policy.mode


def _note(found: SessionFound | None) -> str:
    if found is None or found.open is False:
        return ""
    return OPEN_AT_THE_DESK if found.open else OPEN_OR_NOT_UNKNOWN


def taken_over(worker: str) -> str:
    """What the terminal is shown in which the conversation is still open."""
    return (
        f"Farhand: {worker} goes on with this conversation. Close it here; `farhand handback {worker}` brings it back."
    )


def check_free(present: Present, found: SessionFound, *, anyway: bool) -> None:
    """Raises SessionTaken for a conversation that two would speak in."""
    has_it = next((one.name for one in present.workers.values() if one.session == found.id), "")
    if has_it:
        raise errors.SessionTaken(f"{has_it} has that conversation already.", session=found.id, worker=has_it)
    if found.open and not anyway:
        raise errors.SessionTaken(
            "That conversation is still open at the desk. Close it there first, or take it up with --anyway.",
            session=found.id,
        )


def free_name(directory: str, present: Present) -> str:
    """A name for whoever works in that folder: the folder's own, with a number where that is taken."""
    wanted = normalize(PurePath(directory).name)[: LONGEST - 3].strip("-") or "worker"
    wanted = "worker" if is_reviewer(wanted) else wanted
    wanted = f"{wanted}-1" if wanted in RESERVED else wanted
    numbered = (f"{wanted}-{number}" for number in count(2))
    return next(name for name in chain([wanted], numbered) if name not in present.workers)


def _not_empty(text: str) -> str:
    if not text.strip():
        raise errors.BadInput("There is nothing in that message.")
    return text


def _say(present: Present, command: commands.Say, sender: Sender) -> list[Draft]:
    worker = _spoken_to(present, command.worker, anyway=command.anyway)
    if not command.attachments:
        _not_empty(command.text)
    stopped = _stop(worker, command.text, sender)
    if stopped and sprint.is_bare_stop(command.text):
        return stopped
    if ordered := _ordered(worker, command, sender):
        return ordered
    message = message_id(command, sender)
    queued = facts.Queued(
        message=message, text=command.text, attachments=command.attachments, steer=command.steer, by=sender
    )
    return [*stopped, *_queued(worker, queued)]


def _spoken_to(present: Present, name: str, *, anyway: bool) -> Worker:
    worker = _not_leaving(present, name)
    if worker.is_offline and not anyway:
        raise errors.Offline(worker.name, worker.why_offline)
    return worker


def _queued(worker: Worker, queued: facts.Queued) -> list[Draft]:
    drafts = [Draft(worker=worker.name, fact=queued)]
    if is_free(worker) and not worker.queue:
        # Nobody is before it: its turn begins in the same transaction.
        started = facts.TurnStarted(message=queued.message)
        drafts.append(Draft(worker=worker.name, turn=queued.message, fact=started))
    elif (place := _place(worker, queued)) < len(worker.queue):
        order = [one.id for one in worker.queue]
        order.insert(place, queued.message)
        drafts.append(Draft(worker=worker.name, fact=facts.Reordered(messages=tuple(order), by=queued.by)))
    return drafts


def _place(worker: Worker, queued: facts.Queued) -> int:
    """Where in the queue it goes: a person's message behind those of people, and before what colleagues and programs
    have written; the first words to a worker before all that waits, though somebody was quicker to write to it."""
    if is_by_pipe(queued.by):
        return len(worker.queue)
    is_first = queued.by.via == INTRODUCED_BY
    before = (one.on_its_way if is_first else not is_by_pipe(one.by) for one in worker.queue)
    return max((place for place, is_before in enumerate(before, 1) if is_before), default=0)


def _stop(worker: Worker, text: str, sender: Sender) -> list[Draft]:
    """STOP in a message to a worker at a sprint ends that; STOP NOW interrupts the turn, too. A pipe stops nobody."""
    if worker.sprint is None or is_by_pipe(sender) or not sprint.wants_stop(text):
        return []
    return sprint_moves.halt(worker, sender, now=sprint.wants_stop_now(text))


def _reword(present: Present, message: str, text: str, sender: Sender) -> list[Draft]:
    worker, waiting = _waiting(present, message)
    if is_by_pipe(waiting.by):
        raise errors.CannotDo(NOT_YOURS.format(who=writer(waiting.by)), message=message)
    return [_draft(worker, facts.Reworded(message=waiting.id, text=_not_empty(text), by=sender))]


def _waiting(present: Present, message: str) -> tuple[Worker, Message]:
    for worker in present.workers.values():
        for one in worker.queue:
            # One that a limit put back is still known by the name that it came with.
            if message in (one.id, origin(one.id)) and not one.on_its_way:
                return worker, one
        steering = (*worker.steering, *(one for one in worker.queue if one.on_its_way))
        taken = (worker.turn.message, *steering) if worker.turn else steering
        if any(one and message in (one.id, origin(one.id)) for one in taken):
            raise errors.MessageGone(message)
    raise errors.UnknownMessage(message)


def _reorder(present: Present, messages: tuple[str, ...], sender: Sender) -> list[Draft]:
    """The named messages share out the places that they have; what was begun meanwhile has none any more."""
    if len(set(messages)) != len(messages):
        raise errors.BadInput("The new order names a message twice.")
    named = [one for message in messages if (one := _still_waiting(present, message))]
    if not named:
        raise errors.MessageGone(messages[0]) if messages else errors.BadInput("The new order names no message.")
    worker = named[0][0]
    if any(other.name != worker.name for other, _ in named):
        raise errors.BadInput("Only messages of one worker have an order.")
    ids = {message.id for _, message in named}
    next_one = iter(named)
    order = tuple(next(next_one)[1].id if one.id in ids else one.id for one in worker.queue)
    if order == tuple(one.id for one in worker.queue):
        return []
    return [_draft(worker, facts.Reordered(messages=order, by=sender))]


def _still_waiting(present: Present, message: str) -> tuple[Worker, Message] | None:
    try:
        return _waiting(present, message)
    except errors.MessageGone:
        return None


def _answer(present: Present, command: commands.Answer, sender: Sender) -> list[Draft]:
    ask = present.ask(command.ask)
    if ask is None:
        raise errors.UnknownAsk(command.ask)
    if ask.settled is not None:
        raise ask_gone(ask.settled)
    choice = _chosen(ask, command.choice)
    settled = facts.AskSettled(ask=ask.id, how=HowSettled.ANSWERED, choice=choice, note=command.note, by=sender)
    return [Draft(worker=ask.worker, turn=ask.turn, fact=settled)]


def _chosen(ask: Ask, given: str) -> str:
    """The choice that was made; where several may be, each of them once and in the order of the question."""
    offered = {choice.id: choice for choice in ask.choices}
    made = choices_made(ask, given)
    for one in made:
        if one not in offered:
            raise errors.BadInput(f"'{one}' is no choice of that question. It offers: {', '.join(offered)}.")
    refusal = next((one for one in made if not offered[one].allows), "")
    if refusal and set(made) != {refusal}:
        raise errors.BadInput(f"'{refusal}' goes with no other choice.")
    return ",".join(one for one in offered if one in made)


def ask_gone(settled: facts.AskSettled) -> errors.AskGone:
    """The sentence for an answer that came too late."""
    return errors.AskGone(settled.ask, settled.how.value, settled.choice, settled.by.via if settled.by else "")


def lift(worker: Worker) -> Draft:
    """A limit whose time has come."""
    return _draft(worker, facts.LimitLifted())


def expire(ask: Ask) -> Draft:
    """An ask whose deadline has come: denied, by the first choice that allows nothing."""
    refusal = next((choice.id for choice in ask.choices if not choice.allows), "")
    settled = facts.AskSettled(ask=ask.id, how=HowSettled.EXPIRED, choice=refusal)
    return Draft(worker=ask.worker, turn=ask.turn, fact=settled)
