"""What a sprint does next, and the facts that follow: read off the present, so that a restart goes on. Pure."""

from farhand.model import errors, facts, sprint
from farhand.model.commands import AddTasks, Halt, SkipTask
from farhand.model.commands import Sprint as SprintCommand
from farhand.model.facts import Draft, Fact
from farhand.model.present import Worker
from farhand.model.sprint import HowSprintEnded, SprintOutcome, SprintPhase, SprintState
from farhand.model.words import HowEnded, Sender, replace

NODE = Sender(via="node")
SAID_CHARACTERS = 500
TROUBLE_CHARACTERS = 4000


def is_free(worker: Worker) -> bool:
    """Whether a turn may begin now."""
    held_up = worker.ending or worker.relaunching or worker.resumes_at is not None
    return worker.online and worker.turn is None and not held_up


def is_ready(worker: Worker) -> bool:
    """Whether the sprint has something to do now: what a person said comes first, and so does a usage limit."""
    return worker.sprint is not None and is_free(worker) and not worker.queue


# --- what people ask for


def begin(worker: Worker, command: SprintCommand, sender: Sender) -> list[Draft]:
    """A sprint that begins; one at a time."""
    if worker.sprint is not None:
        raise errors.CannotDo(f"{worker.name} is at a sprint already; /sprint stop ends it.", worker=worker.name)
    begun = SprintState(
        id=command.id,
        began=0.0,
        tasks=_checked(command.tasks),
        verifier=command.verifier.strip(),
        commits=command.commits,
        limits=command.limits,
        before=worker.spent.total,
    )
    return [_draft(worker, facts.SprintBegan(sprint=begun, by=sender))]


def change(worker: Worker, command: AddTasks | SkipTask | Halt, sender: Sender) -> list[Draft]:
    """What a person does to a sprint that runs."""
    running = worker.sprint
    if running is None:
        raise errors.CannotDo(f"{worker.name} is at no sprint; /sprint start begins one.", worker=worker.name)
    match command:
        case AddTasks(tasks=tasks):
            if not running.tasks:
                raise errors.CannotDo("That sprint follows the agent's own plan; say it to the worker.")
            added = replace(running, tasks=_checked((*running.tasks, *tasks)))
            return [_moved(worker, added, sender)]
        case SkipTask():
            return [_moved(worker, _following(running, _skipped(running)), sender)]
        case Halt(now=now):
            return halt(worker, sender, now=now)


def halt(worker: Worker, sender: Sender, *, now: bool) -> list[Draft]:
    """The sprint ends with the turn that runs; `now` interrupts that, too."""
    drafts = [_draft(worker, facts.HaltAsked(by=sender))]
    if now and worker.turn is not None:
        drafts.append(_draft(worker, facts.InterruptAsked(by=sender)))
    return drafts


def _checked(tasks: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(task.strip() for task in tasks if task.strip())
    if len(found) > sprint.MOST_TASKS:
        raise errors.BadInput(f"A sprint has {sprint.MOST_TASKS} tasks at most; these are {len(found)}.")
    if any(len(task) > sprint.LONGEST_TASK for task in found):
        raise errors.BadInput(f"A task has {sprint.LONGEST_TASK} characters at most.")
    return found


# --- what happens by itself


def give(worker: Worker, now: float) -> list[Draft]:
    """The next prompt and its turn; or the end: no task is left, a limit is reached, or somebody said STOP."""
    running = worker.sprint
    if running is None or not is_ready(worker) or running.phase is not SprintPhase.PROMPT:
        return []
    if running.halting:
        return end(worker, HowSprintEnded.HALTED)
    if running.at >= running.total:
        return end(worker, HowSprintEnded.DONE)
    if limit := sprint.reached_limit(running, now, worker.spent.total):
        return end(worker, HowSprintEnded.LIMIT, limit)
    message = f"sprint:{running.id}:{running.at}.{running.round}"
    moved = replace(running, phase=SprintPhase.TURN, message=message)
    return [
        _moved(worker, moved),
        _draft(worker, facts.Queued(message=message, text=sprint.prompt(running), by=NODE)),
        Draft(worker=worker.name, turn=message, fact=facts.TurnStarted(message=message)),
    ]


def after_turn(worker: Worker, ended: facts.TurnEnded | None, text: str) -> list[Draft]:
    """What follows from a turn of the sprint that ended so, with these words; None: its prompt was taken back."""
    running = worker.sprint
    if running is None or running.phase is not SprintPhase.TURN:
        return []
    if ended is None:
        return end(worker, HowSprintEnded.HALTED, "its prompt was taken back")
    if ended.how is HowEnded.INTERRUPTED:
        return end(worker, HowSprintEnded.HALTED, "its turn was interrupted")
    if ended.how is not HowEnded.COMPLETED:
        return _again(worker, running, f"The turn failed: {ended.error or ended.how.value}")
    said = text.strip()[-SAID_CHARACTERS:]
    if not running.tasks and sprint.PLAN_DONE in text:
        return end(worker, HowSprintEnded.DONE)
    repeated = bool(said) and said == running.said
    turned = replace(running, phase=SprintPhase.CHECK, said=said, repeated=repeated)
    return [_moved(worker, turned)]


def checked(worker: Worker, *, passed: bool, output: str, commit: str, problem: str = "") -> list[Draft]:
    """What follows from the check of a task: the next one, or the same one again with what is wrong."""
    running = worker.sprint
    if running is None or running.phase is not SprintPhase.CHECK:
        return []
    if running.repeated and not (passed and running.tasks):
        return end(worker, HowSprintEnded.STUCK, "the agent says the same again")
    if not passed:
        return _again(worker, replace(running, failures=running.failures + 1), output)
    why = f"not committed: {problem}" if problem else ""
    outcome = SprintOutcome(task=running.task, done=True, rounds=running.round, commit=commit, why=why)
    return [_moved(worker, _following(running, outcome))]


def _again(worker: Worker, running: SprintState, trouble: str) -> list[Draft]:
    trouble = trouble.strip()[-TROUBLE_CHARACTERS:]
    if running.limits.rounds and running.round >= running.limits.rounds:
        return end(worker, HowSprintEnded.STUCK, f"{running.round} rounds were not enough", running)
    again = replace(running, phase=SprintPhase.PROMPT, round=running.round + 1, trouble=trouble)
    return [_moved(worker, again)]


def end(worker: Worker, how: HowSprintEnded, why: str = "", state: SprintState | None = None) -> list[Draft]:
    """The end of the sprint; the task that it was at is told as open."""
    running = state or worker.sprint
    if running is None:
        return []
    if how is not HowSprintEnded.DONE and running.at < running.total and (running.round > 1 or running.message):
        open_task = SprintOutcome(task=running.task, done=False, rounds=running.round, why=why)
        begun = running.phase is not SprintPhase.PROMPT or running.round > 1
        running = replace(running, outcomes=(*running.outcomes, open_task)) if begun else running
    usage = sprint.used(running, worker.spent.total)
    return [_draft(worker, facts.SprintEnded(sprint=running, how=how, why=why, usage=usage))]


def _skipped(running: SprintState) -> SprintOutcome:
    return SprintOutcome(task=running.task, done=False, rounds=running.round, why="skipped")


def _following(running: SprintState, outcome: SprintOutcome) -> SprintState:
    """The sprint at its next task."""
    return replace(
        running,
        phase=SprintPhase.PROMPT,
        at=running.at + 1,
        round=1,
        trouble="",
        message="",
        outcomes=(*running.outcomes, outcome),
    )


def _moved(worker: Worker, moved: SprintState, by: Sender | None = None) -> Draft:
    return _draft(worker, facts.SprintMoved(sprint=moved, usage=sprint.used(moved, worker.spent.total), by=by))


def _draft(worker: Worker, fact: Fact) -> Draft:
    return Draft(worker=worker.name, turn=worker.turn.id if worker.turn else None, fact=fact)
