/** One worker's past and its running turn, after one more event: the same as `model/team_view.py`. Pure. */

import { begin, foldTurn } from "./turn";
import type { ConversationView, Event, HistoryEntry, HistoryPage, Message, TurnEntry, Worker } from "./types";

/** What is known of a conversation: entries oldest first, as of event `seq`. */
export interface Log {
  readonly seq: number;
  readonly entries: readonly HistoryEntry[];
  readonly open: TurnEntry | null;
  /** There are older entries on the node. */
  readonly more: boolean;
}

export const EMPTY: Log = { seq: 0, entries: [], open: null, more: false };

const LATE = new Set(["ask_settled", "answer_delivered", "handed_over", "seen", "doubted"]);
const ALWAYS_SHOWN = new Set([
  "hired",
  "ended",
  "went_offline",
  "responded",
  "tuned",
  "limited",
  "limit_lifted",
  "sprint_began",
  "sprint_ended",
]);
const SHOWN_BETWEEN_TURNS = new Set(["said", "showed", "noted", "ask_raised", "ask_settled"]);

/** A log that begins with a page of the node. */
export function fromPage(page: HistoryPage): Log {
  return { seq: page.seq ?? 0, entries: page.entries ?? [], open: page.open ?? null, more: page.more ?? false };
}

/** The log with an older page before it; what both have stays once. */
export function withOlder(log: Log, page: HistoryPage): Log {
  const first = log.entries[0]?.seq ?? log.open?.seq ?? Number.POSITIVE_INFINITY;
  const older = (page.entries ?? []).filter((entry) => entry.seq < first);
  return { ...log, entries: [...older, ...log.entries], more: page.more ?? false };
}

/** The worker `before` and `after` the event; an event that the log has already changes nothing. */
export function foldLog(log: Log, event: Event, before: Worker | undefined, after: Worker | undefined): Log {
  if (event.seq <= log.seq) {
    return log;
  }
  const turned = withTurn(log, event, before, after);
  const entry = isShown(event) ? withEntry(turned, { type: "fact", seq: event.seq, event }) : turned;
  return { ...entry, seq: event.seq };
}

function withTurn(log: Log, event: Event, before: Worker | undefined, after: Worker | undefined): Log {
  const { fact } = event;
  const { open } = log;
  if (fact.type === "turn_started" && after !== undefined) {
    return { ...log, open: { type: "turn", seq: event.seq, view: begin(event), messages: saidTo(after) } };
  }
  if (open !== null && open.view.turn === event.turn) {
    const view = { ...foldTurn(open.view, event), seq: event.seq };
    return fact.type === "turn_ended"
      ? withEntry({ ...log, open: null }, { ...open, view, messages: saidTo(before) })
      : { ...log, open: { ...open, view, messages: saidTo(after) } };
  }
  if (open !== null && fact.type === "ended") {
    return withEntry({ ...log, open: null }, { ...open, messages: saidTo(before) });
  }
  return event.turn && LATE.has(fact.type) ? { ...log, entries: log.entries.map((entry) => late(entry, event)) } : log;
}

/** What comes after the end of its turn is folded into its entry. */
function late(entry: HistoryEntry, event: Event): HistoryEntry {
  return entry.type === "turn" && entry.view.turn === event.turn
    ? { ...entry, view: { ...foldTurn(entry.view, event), seq: entry.view.seq ?? 0 } }
    : entry;
}

/** What was said to the running turn: its first message, then those that joined it. */
function saidTo(worker: Worker | undefined): readonly Message[] {
  return worker?.turn ? [...(worker.turn.message ? [worker.turn.message] : []), ...(worker.steering ?? [])] : [];
}

function isShown(event: Event): boolean {
  const { fact } = event;
  return (
    ALWAYS_SHOWN.has(fact.type) ||
    (fact.type === "came_online" && !fact.adopted) ||
    (SHOWN_BETWEEN_TURNS.has(fact.type) && !event.turn)
  );
}

/** A turn stands where it began, before what was shown while it ran. */
function withEntry(log: Log, entry: HistoryEntry): Log {
  const place = log.entries.findLastIndex((one) => one.seq <= entry.seq) + 1;
  return { ...log, entries: [...log.entries.slice(0, place), entry, ...log.entries.slice(place)] };
}

/** The log as the golden fixtures have it. */
export function asView(log: Log): ConversationView {
  return { entries: log.entries, open: log.open };
}
