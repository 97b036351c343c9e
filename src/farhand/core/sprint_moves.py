"""What a sprint does next, and the facts that follow: read off the present, so that a restart goes on. Pure."""

from farhand.model import context, errors, facts, sprint
from farhand.model.commands import AddTasks, Halt, SkipTask
from farhand.model.commands import Sprint as SprintCommand
from farhand.model.facts import Draft, Fact
from farhand.model.names import origin
from farhand.model.present import Worker
from farhand.model.review import ReviewState
from farhand.model.sprint import HowSprintEnded, SprintOutcome, SprintPhase, SprintState
from farhand.model.words import HowEnded, Sender, replace
from farhand.model.workdir import FileText

NODE = Sender(via="node")
SAID_CHARACTERS = 500
TROUBLE_CHARACTERS = 4000
# Reviews of one round of a task: one that nobody could judge, or that was changed meanwhile, is judged anew.
MOST_REVIEWS = 3


def is_free(worker: Worker) -> bool:
    """Whether a turn may begin now."""
    held_up = worker.ending or worker.relaunching or worker.resumes_at is not None
    return worker.online and worker.turn is None and not held_up


def is_ready(worker: Worker) -> bool:
    """Whether the sprint has something to do now: what a person said comes first, and so does a usage limit.

    One that is stopped at once and has nothing under way waits for nobody."""
    running = worker.sprint
    if running is None:
        return False
    if running.halting_now and running.phase in (SprintPhase.PROMPT, SprintPhase.REVIEW):
        return True
    if not is_free(worker) or worker.queue:
        return False
    judging = running.phase is SprintPhase.REVIEW and not running.halting
    return not (judging and any(one.id == running.reviewing and not one.is_over for one in worker.reviews))


def turn_ends_at(worker: Worker) -> float | None:
    """When the time of a sprint is over of which a turn runs now; None when none does, or when it may last."""
    running, message = worker.sprint, worker.turn and worker.turn.message
    if running is None or message is None or running.phase is not SprintPhase.TURN:
        return None
    return running.ends_at if origin(message.id) == running.message else None


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
        review=command.review,
        before=worker.spent.total,
    )
    return [_draft(worker, facts.SprintBegan(sprint=begun, by=sender))]


def with_listed(command: SprintCommand, listed: FileText) -> SprintCommand:
    """The command with the open items of that file as tasks, too; a list of which a part is missing is refused."""
    if listed.text is None or listed.cut:
        why = "is no text" if listed.text is None else "is too large"
        raise errors.BadInput(f"{listed.path} {why}: a list of tasks was expected.", path=listed.path)
    tasks = sprint.tasks_of(listed.text)
    if not tasks:
        raise errors.BadInput(f"There is no open task in {listed.path}.", path=listed.path)
    return replace(command, tasks=(*command.tasks, *tasks), file="")


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
    """The sprint ends with the turn that runs; `now` interrupts that, and ends a check that runs, too."""
    drafts = [_draft(worker, facts.HaltAsked(by=sender, now=now))]
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
        left = running.left_over
        return end(worker, HowSprintEnded.LIMIT if left else HowSprintEnded.DONE, left)
    if limit := sprint.reached_limit(running, now, worker.spent.total):
        return end(worker, HowSprintEnded.LIMIT, limit)
    message = f"sprint:{running.id}:{running.at}.{running.round}"
    moved = replace(running, phase=SprintPhase.TURN, message=message)
    return [
        _moved(worker, moved),
        _draft(worker, facts.Queued(message=message, text=sprint.prompt(running), by=NODE)),
        Draft(worker=worker.name, turn=message, fact=facts.TurnStarted(message=message)),
    ]


def run_out(worker: Worker, now: float) -> list[Draft]:
    """The end of a sprint whose time is over in the midst of a turn, which is interrupted.

    It ends at once: an agent that hangs may not even obey the interrupt."""
    ends_at = turn_ends_at(worker)
    if worker.sprint is None or ends_at is None or now < ends_at:
        return []
    limit = sprint.reached_limit(worker.sprint, now, worker.spent.total)
    return [_draft(worker, facts.InterruptAsked(by=NODE)), *end(worker, HowSprintEnded.LIMIT, limit)]


def after_turn(worker: Worker, ended: facts.TurnEnded | None, text: str, window: int = 0) -> list[Draft]:
    """What follows from a turn of the sprint that ended so, with these words; None: its prompt was taken back.

    `window` is how many tokens its conversation may have; 0 where nobody knows."""
    running = worker.sprint
    if running is None or running.phase is not SprintPhase.TURN:
        return []
    if ended is None:
        return end(worker, HowSprintEnded.HALTED, "its prompt was taken back")
    if ended.how is HowEnded.INTERRUPTED:
        return end(worker, HowSprintEnded.HALTED, "its turn was interrupted")
    measured, warnings = _measure_context(worker, running, window)
    return [*_follow_turn(worker, measured, ended, text), *warnings]


def _measure_context(worker: Worker, running: SprintState, window: int) -> tuple[SprintState, list[Draft]]:
    """The sprint with how full the conversation is; a warning the first time that it is nearly full."""
    usage = worker.spent.total
    percent = context.percent_used(usage, window)
    warns = percent >= context.WARNING_PERCENT and not running.warned
    warnings = [_draft(worker, facts.Noted(text=context.warning(usage, window)))] if warns else []
    return replace(running, context=percent, warned=running.warned or warns), warnings


def _follow_turn(worker: Worker, running: SprintState, ended: facts.TurnEnded, text: str) -> list[Draft]:
    if ended.how is not HowEnded.COMPLETED:
        return _again(worker, running, f"The turn failed: {ended.error or ended.how.value}")
    said = text.strip()[-SAID_CHARACTERS:]
    if not running.tasks and sprint.PLAN_DONE in text:
        return end(worker, HowSprintEnded.DONE, state=running)
    repeated = bool(said) and said == running.said
    turned = replace(running, phase=SprintPhase.CHECK, said=said, repeated=repeated)
    return [_moved(worker, turned)]


def awaits_check(worker: Worker | None, running: SprintState) -> bool:
    """Whether a check is still wanted: nobody has skipped its task, stopped the sprint at once or let the worker go."""
    now = worker.sprint if worker else None
    if now is None or now.halting_now:
        return False
    return (now.id, now.at, now.phase) == (running.id, running.at, running.phase)


def stop_check(worker: Worker, what: str = "check") -> list[Draft]:
    """The end of a sprint that was stopped at once, before its check had passed or its commit was made."""
    running = worker.sprint
    if running is None or not running.halting_now:
        return []
    return end(worker, HowSprintEnded.HALTED, f"its {what} was stopped")


def checked(worker: Worker, *, passed: bool, output: str, commit: str, problem: str = "") -> list[Draft]:
    """What follows from the check of a task: the next one, or the same one again with what is wrong."""
    running = worker.sprint
    if running is None or running.phase is not SprintPhase.CHECK:
        return []
    if running.repeated and not (passed and running.tasks):
        return end(worker, HowSprintEnded.STUCK, "the agent says the same again")
    if not passed:
        return _again(worker, replace(running, failures=running.failures + 1), output)
    return _done(worker, running, commit, problem)


def _done(worker: Worker, running: SprintState, commit: str, problem: str) -> list[Draft]:
    why = f"not committed: {problem}" if problem else ""
    outcome = SprintOutcome(task=running.task, done=True, rounds=running.round, commit=commit, why=why)
    return [_moved(worker, _following(running, outcome))]


# --- the gate: what a task must pass before it is done


def keep_approved(worker: Worker, tree: str) -> list[Draft]:
    """The folder as it is before the first task: what differs from it later is to be judged."""
    running = worker.sprint
    if running is None or running.approved or not running.review:
        return []
    if not tree:
        return end(worker, HowSprintEnded.STUCK, "the folder has no git repository, so nothing in it can be judged")
    return [_moved(worker, replace(running, approved=tree))]


def ask_review(worker: Worker, asked: ReviewState) -> list[Draft]:
    """The task waits for a verdict; one that nobody can give, or that is stale each time, ends the sprint."""
    running = worker.sprint
    if running is None or running.phase not in (SprintPhase.CHECK, SprintPhase.REVIEW):
        return []
    if running.reviews >= MOST_REVIEWS:
        return end(worker, HowSprintEnded.STUCK, f"no verdict that holds came of {running.reviews} reviews")
    moved = replace(running, phase=SprintPhase.REVIEW, reviewing=asked.id, reviews=running.reviews + 1)
    return [_moved(worker, moved), _draft(worker, facts.ReviewAsked(review=asked, by=NODE))]


def approve(worker: Worker, tree: str, commit: str = "", problem: str = "") -> list[Draft]:
    """The task is done: it was approved as it is, or there is no change in it."""
    running = worker.sprint
    if running is None or running.phase not in (SprintPhase.CHECK, SprintPhase.REVIEW):
        return []
    return _done(worker, replace(running, approved=tree), commit, problem)


def object_to(worker: Worker, findings: str) -> list[Draft]:
    """Reviewers want changes: the same task again, with what they found."""
    running = worker.sprint
    if running is None or running.phase is not SprintPhase.REVIEW:
        return []
    told = f"Reviewers do not approve of it yet:\n{findings}"
    return _again(worker, replace(running, failures=running.failures + 1), told)


def _again(worker: Worker, running: SprintState, trouble: str) -> list[Draft]:
    trouble = trouble.strip()[-TROUBLE_CHARACTERS:]
    if running.limits.rounds and running.round >= running.limits.rounds:
        spent = "1 round was" if running.round == 1 else f"{running.round} rounds were"
        return end(worker, HowSprintEnded.STUCK, f"{spent} not enough", running)
    again = replace(running, phase=SprintPhase.PROMPT, round=running.round + 1, trouble=trouble)
    again = replace(again, reviewing="", reviews=0)
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
        reviewing="",
        reviews=0,
        outcomes=(*running.outcomes, outcome),
    )


def _moved(worker: Worker, moved: SprintState, by: Sender | None = None) -> Draft:
    return _draft(worker, facts.SprintMoved(sprint=moved, usage=sprint.used(moved, worker.spent.total), by=by))


def _draft(worker: Worker, fact: Fact) -> Draft:
    return Draft(worker=worker.name, turn=worker.turn.id if worker.turn else None, fact=fact)
