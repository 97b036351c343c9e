/** The present after an event: the same fold as `model/present.py`, held to it by the golden fixtures. Pure. */

import type {
  Ask,
  AskSettled,
  Event,
  Fact,
  FailedTurn,
  Message,
  Present,
  ReviewState,
  Spent,
  SprintEnded,
  SprintState,
  Turn,
  Usage,
  Worker,
} from "./types";

const FIRST_PAUSE_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 3600;
const MOST_REVIEWS = 8;
const MOST_FAILED = 8;
const STOPPED_IN_THE_MIDDLE =
  "Your usage limit stopped you in the middle of the message below. Go on where you stopped; do not repeat what is done already.\n\n";

type Of<T extends Fact["type"]> = Extract<Fact, { type: T }>;

/** Facts of the agent's talk change nothing but the number. */
export function fold(present: Present, event: Event): Present {
  const { fact } = event;
  const workers = present.workers ?? {};
  if (fact.type === "hired") {
    return { ...present, seq: event.seq, workers: { ...workers, [event.worker]: hired(event, fact) } };
  }
  if (fact.type === "attention_set") {
    return { ...present, seq: event.seq, attention: fact.settings };
  }
  const worker = Object.hasOwn(workers, event.worker) ? workers[event.worker] : undefined;
  if (worker === undefined) {
    return { ...present, seq: event.seq };
  }
  if (fact.type === "focused") {
    return { ...present, seq: event.seq, focus: worker.name };
  }
  if (fact.type === "ended") {
    const rest = Object.fromEntries(Object.entries(workers).filter(([name]) => name !== worker.name));
    return {
      ...present,
      seq: event.seq,
      workers: rest,
      focus: present.focus === worker.name ? "" : (present.focus ?? ""),
    };
  }
  const changed = foldWorker(worker, event);
  return changed === worker
    ? { ...present, seq: event.seq }
    : { ...present, seq: event.seq, workers: { ...workers, [worker.name]: changed } };
}

function hired(event: Event, fact: Of<"hired">): Worker {
  const { backend, directory, model, mode, effort, options, session } = fact;
  return {
    name: event.worker,
    since: event.seq,
    backend,
    directory,
    ...(model ? { model } : {}),
    ...(mode ? { mode } : {}),
    ...(effort ? { effort } : {}),
    ...(options ? { options } : {}),
    ...(session ? { session } : {}),
  };
}

/** The very same object when the event does not change the worker. */
export function foldWorker(worker: Worker, event: Event): Worker {
  const { fact } = event;
  switch (fact.type) {
    case "end_asked":
      return { ...worker, ending: true, handing_back: fact.hand_back ?? false };
    case "relaunch_asked":
      return { ...worker, relaunching: true, resumes_at: null };
    case "tune_asked":
      return { ...worker, tuning: fact };
    case "tuned":
      return tuned(worker, fact);
    case "came_online":
      return {
        ...worker,
        online: true,
        relaunching: false,
        why_offline: "",
        why_offline_phrase: null,
        ...withSession(fact.session || worker.session),
      };
    case "went_offline":
      return {
        ...worker,
        online: false,
        // One that is started again at once is starting, and who writes to it waits.
        why_offline: (fact.final ?? true) ? fact.why : "",
        why_offline_phrase: (fact.final ?? true) ? (fact.why_phrase ?? null) : null,
        // Offline twice in a row: the relaunch was tried, and its agent did not start.
        relaunching: Boolean(worker.relaunching && (worker.online || fact.asked)),
      };
    case "session_known":
      return { ...worker, session: fact.session };
    case "queued":
      return {
        ...worker,
        queue: [...(worker.queue ?? []), queuedMessage(event, fact)],
        failed: (worker.failed ?? []).filter((one) => one.turn !== fact.again),
      };
    case "reworded":
      return { ...worker, queue: changed(worker.queue, fact.message, { text: fact.text }) };
    case "reordered":
      return { ...worker, queue: reordered(worker.queue, fact.messages) };
    case "steer_asked":
      return { ...worker, queue: changed(worker.queue, fact.message, { steer: true }) };
    case "steer_begun":
      return { ...worker, queue: changed(worker.queue, fact.message, { on_its_way: true }) };
    case "steer_declined":
      return { ...worker, queue: changed(worker.queue, fact.message, { on_its_way: false }) };
    case "withdrawn":
      return { ...worker, queue: without(worker.queue, fact.message) };
    case "turn_started":
      return turnStarted(worker, event, fact.message ?? null);
    case "handed_over":
    case "seen":
      return handed(worker, fact.message);
    case "doubted":
      return doubted(worker, fact.message);
    case "interrupt_asked":
      return withTurn(worker, { interrupt_asked: event.seq, interrupted: false });
    case "interrupted":
      return withTurn(worker, { interrupted: true });
    case "ask_raised":
      return { ...worker, asks: [...(worker.asks ?? []), raised(event, fact)] };
    case "ask_settled":
      return { ...worker, asks: settled(worker.asks ?? [], fact) };
    case "answer_delivered":
      return { ...worker, asks: (worker.asks ?? []).filter((ask) => ask.id !== fact.ask) };
    case "used":
      return used(worker, event, fact.usage);
    case "turn_ended":
      return turnEnded(used(worker, event, fact.usage ?? null), event, fact);
    case "limited":
      return {
        ...withTurn(worker, { limited: true }),
        limited: fact,
        limits: (worker.limits ?? 0) + 1,
        resumes_at: resumesAt(fact.until ?? null, event.at, worker.limits ?? 0),
      };
    case "limit_lifted":
      return { ...worker, resumes_at: null };
    case "sprint_began":
      return { ...worker, sprint: { ...fact.sprint, began: event.at }, stuck: "" };
    case "sprint_moved":
      return { ...worker, sprint: fact.sprint };
    case "halt_asked":
      return worker.sprint ? { ...worker, sprint: halted(worker.sprint, fact.now ?? false) } : worker;
    case "sprint_ended":
      return { ...worker, sprint: null, stuck: stuckAfter(worker.stuck ?? "", fact) };
    case "review_asked":
      return { ...worker, reviews: keptReviews(worker.reviews ?? [], { ...fact.review, at: event.at }) };
    case "review_moved":
      return { ...worker, reviews: keptReviews(worker.reviews ?? [], fact.review) };
    case "tool_started":
      return worker.turn && !worker.turn.acted ? withTurn(worker, { acted: true }) : worker;
    default:
      return worker;
  }
}

/** A review that changed, or came; the oldest go first. */
/** Why the last sprint stopped before its end; a person who halts one knows why. */
function stuckAfter(stuck: string, fact: SprintEnded): string {
  return fact.how === "stuck" || fact.how === "limit" ? fact.why || "It is stuck." : stuck;
}

function halted(sprint: SprintState, now: boolean): SprintState {
  return { ...sprint, halting: true, halting_now: (sprint.halting_now ?? false) || now };
}

function keptReviews(reviews: readonly ReviewState[], review: ReviewState): readonly ReviewState[] {
  const known = reviews.some((one) => one.id === review.id);
  return known
    ? reviews.map((one) => (one.id === review.id ? review : one))
    : [...reviews, review].slice(-MOST_REVIEWS);
}

function withSession(session: string | undefined): { session?: string } {
  return session === undefined ? {} : { session };
}

function withTurn(worker: Worker, change: Partial<Turn>): Worker {
  return worker.turn ? { ...worker, turn: { ...worker.turn, ...change } } : worker;
}

function changed(queue: readonly Message[] | undefined, message: string, change: Partial<Message>): readonly Message[] {
  return (queue ?? []).map((one) => (one.id === message ? { ...one, ...change } : one));
}

/** The queue in that order; whoever it does not name comes after. */
function reordered(queue: readonly Message[] | undefined, messages: readonly string[]): readonly Message[] {
  const place = (one: Message) => (messages.includes(one.id) ? messages.indexOf(one.id) : messages.length);
  return [...(queue ?? [])].sort((one, other) => place(one) - place(other));
}

function without(queue: readonly Message[] | undefined, message: string): readonly Message[] {
  return (queue ?? []).filter((one) => one.id !== message);
}

function queuedMessage(event: Event, fact: Of<"queued">): Message {
  const { message, text, attachments, steer, by } = fact;
  return { id: message, text, at: event.at, by, ...(attachments ? { attachments } : {}), ...(steer ? { steer } : {}) };
}

function tuned(worker: Worker, fact: Of<"tuned">): Worker {
  if (fact.refused) {
    return { ...worker, tuning: null };
  }
  const { model, mode, effort } = fact;
  return {
    ...worker,
    tuning: null,
    ...(model === null || model === undefined ? {} : { model }),
    ...(mode === null || mode === undefined ? {} : { mode }),
    ...(effort === null || effort === undefined ? {} : { effort }),
  };
}

function turnStarted(worker: Worker, event: Event, message: string | null): Worker {
  const first = (worker.queue ?? []).find((one) => one.id === message) ?? null;
  const turn: Turn = {
    id: event.turn ?? "",
    seq: event.seq,
    at: event.at,
    message: first,
    handed_over: message === null,
  };
  const queue = message === null ? (worker.queue ?? []) : without(worker.queue, message);
  const failed = (worker.failed ?? []).map((one) => ({ ...one, past: true }));
  return { ...worker, turn, queue, stuck: "", failed };
}

function handed(worker: Worker, message: string): Worker {
  if (worker.turn?.message?.id === message) {
    return withTurn(worker, { handed_over: true });
  }
  // A turn that is over by now has nobody to join.
  const joined = (worker.queue ?? [])
    .filter((one) => one.id === message && worker.turn)
    .map((one) => ({ ...one, on_its_way: false }));
  return { ...worker, queue: without(worker.queue, message), steering: [...(worker.steering ?? []), ...joined] };
}

function doubted(worker: Worker, message: string): Worker {
  return worker.turn?.message?.id === message
    ? withTurn(worker, { doubted: true })
    : { ...worker, queue: without(worker.queue, message) };
}

function raised(event: Event, fact: Of<"ask_raised">): Ask {
  const { type: _, ask, deadline_seconds, unasked: __, ...question } = fact;
  return {
    ...question,
    id: ask,
    worker: event.worker,
    turn: event.turn ?? null,
    seq: event.seq,
    deadline: deadline_seconds === null || deadline_seconds === undefined ? null : event.at + deadline_seconds,
  };
}

function settled(asks: readonly Ask[], fact: AskSettled): readonly Ask[] {
  // What the agent itself ended needs no delivery.
  return fact.how === "desk" || fact.how === "withdrawn"
    ? asks.filter((ask) => ask.id !== fact.ask)
    : asks.map((ask) => (ask.id === fact.ask ? { ...ask, settled: fact } : ask));
}

function used(worker: Worker, event: Event, usage: Usage | null): Worker {
  return usage === null || !event.turn ? worker : { ...worker, spent: spend(worker.spent ?? {}, event.turn, usage) };
}

function spend(spent: Spent, turn: string, usage: Usage): Spent {
  const before = turn === (spent.turn ?? "") ? (spent.before ?? {}) : total(spent);
  return { before, turn, of_turn: usage };
}

/** One object for all who told of none: what did not change is told by identity. */
const NO_WINDOWS: NonNullable<Usage["windows"]> = [];

/** All that was used since the hiring. */
export function total(spent: Spent): Usage {
  const [one, other] = [spent.before ?? {}, spent.of_turn ?? {}];
  const costs = [one.cost_dollars, other.cost_dollars].filter((cost) => cost !== null && cost !== undefined);
  return {
    input_tokens: (one.input_tokens ?? 0) + (other.input_tokens ?? 0),
    output_tokens: (one.output_tokens ?? 0) + (other.output_tokens ?? 0),
    cost_dollars: costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null,
    // The later one knows how full the conversation and the windows are now.
    context_tokens: other.context_tokens || (one.context_tokens ?? 0),
    context_window: other.context_window || (one.context_window ?? 0),
    windows: other.windows?.length ? other.windows : (one.windows ?? NO_WINDOWS),
  };
}

function turnEnded(worker: Worker, event: Event, fact: Of<"turn_ended">): Worker {
  const { turn } = worker;
  if (!turn || turn.id !== (event.turn ?? null)) {
    return worker;
  }
  if (fact.how === "completed") {
    // An agent that completes a turn has no limit any more.
    return { ...worker, turn: null, steering: [], limited: null, limits: 0, resumes_at: null };
  }
  const back = fact.how === "parked" ? putBack(turn, worker.steering ?? []) : [];
  const failed = withFailed(worker.failed ?? [], turn, fact.can_retry ?? false);
  return { ...worker, turn: null, steering: [], queue: [...back, ...(worker.queue ?? [])], failed };
}

/** With a turn whose message can be tried again; the oldest go first. */
function withFailed(failed: readonly FailedTurn[], turn: Turn, canRetry: boolean): readonly FailedTurn[] {
  return canRetry && turn.message ? [...failed, { turn: turn.id, message: turn.message }].slice(-MOST_FAILED) : failed;
}

function resumesAt(until: number | null, at: number, before: number): number {
  return until !== null && until > at
    ? until
    : at + Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(before, 30), LONGEST_PAUSE_SECONDS);
}

/** The messages of a turn that a limit stopped, each under its next name. */
export function putBack(turn: Turn, steering: readonly Message[]): readonly Message[] {
  const first = turn.message ? [turn.message] : [];
  return [...first, ...steering].map((one) => ({
    ...one,
    id: again(one.id),
    text: goingOn(one.text, turn.acted ?? false),
  }));
}

/** An agent that was stopped in the middle must not begin anew. */
function goingOn(text: string, acted: boolean): string {
  return acted && !text.startsWith(STOPPED_IN_THE_MIDDLE) ? `${STOPPED_IN_THE_MIDDLE}${text}` : text;
}

/** What a message is called that waits once more. */
export function again(message: string): string {
  const found = /^(.*)~(\d{1,9})$/s.exec(message);
  return found ? `${found[1]}~${Number(found[2]) + 1}` : `${message}~2`;
}
