/** The team as the screens show it: the present, what was last said, what is unread, what waits. Pure. */

import { waitsAt } from "../../wire/inbox";
import type { Log } from "../../wire/log";
import { total } from "../../wire/present";
import type * as wire from "../../wire/types";
import { sprintOf } from "../sprints";
import type { OpenAsk, QueuedMessage, Worker, WorkerState } from "../types";
import { reviewOf } from "./reviews";

export interface TeamSources {
  readonly present: wire.Present;
  readonly logs: ReadonlyMap<string, Log>;
  /** The last event of each worker that was looked at. */
  readonly reads: ReadonlyMap<string, number>;
  /** Asks that this device has answered, and whose end is not known yet. */
  readonly answering: ReadonlySet<string>;
  /** When asks were raised, where it was heard. */
  readonly raisedAt: ReadonlyMap<string, number>;
  readonly now: number;
}

const TALK = new Set(["said", "responded", "noted", "showed"]);
const RANKS: Readonly<Record<WorkerState, number>> = {
  waiting: 0,
  working: 1,
  starting: 2,
  available: 2,
  limited: 3,
  offline: 3,
  leaving: 4,
};

/** Everybody, whoever waits for the manager first, then the one who was last heard of. */
export function teamOf(sources: TeamSources): readonly Worker[] {
  const workers = Object.values(sources.present.workers ?? {}).map((worker) => workerOf(worker, sources));
  return workers.sort(
    (one, other) =>
      RANKS[one.state] - RANKS[other.state] || other.lastAt - one.lastAt || (one.name < other.name ? -1 : 1),
  );
}

function workerOf(worker: wire.Worker, sources: TeamSources): Worker {
  const log = sources.logs.get(worker.name);
  const open = (worker.asks ?? []).filter((ask) => !ask.settled);
  const usage = total(worker.spent ?? {});
  return {
    name: worker.name,
    backend: worker.backend,
    wire: worker.options?.wire ?? "",
    directory: worker.directory,
    model: worker.model ?? "",
    mode: worker.mode ?? "default",
    effort: worker.effort ?? "",
    session: worker.session ?? "",
    state: stateOf(worker, sources.now),
    failed: hasFailed(log),
    triable: (worker.failed ?? []).map((one) => one.turn),
    workingSince: worker.turn?.at ?? null,
    doing: log?.open?.view.tools?.findLast((tool) => (tool.ok ?? null) === null)?.title ?? "",
    whyOffline: worker.why_offline ?? "",
    whyOfflinePhrase: worker.why_offline_phrase ?? null,
    resumesAt: worker.resumes_at ?? null,
    limitText: worker.limited?.text ?? "",
    ...lastOf(worker, log),
    unread: log ? unread(log, sources.reads.get(worker.name) ?? Number.POSITIVE_INFINITY) : 0,
    asks: open.map((ask) => openAsk(ask, worker, sources)),
    queue: (worker.queue ?? []).map((message) => queued(message, worker.name)),
    reviews: (worker.reviews ?? []).map(reviewOf),
    judges: worker.options?.reviews ?? "",
    waits: waitsAt(worker),
    sprint: worker.sprint ? sprintOf(worker.sprint, usage) : null,
    usage,
    focused: sources.present.focus === worker.name,
    interrupting: Boolean(worker.turn?.interrupt_asked && !worker.turn.interrupted),
    relaunching: worker.relaunching ?? false,
    tuning: Boolean(worker.tuning),
  };
}

export function stateOf(worker: wire.Worker, now: number): WorkerState {
  if (worker.ending) {
    return "leaving";
  }
  if ((worker.asks ?? []).some((ask) => !ask.settled)) {
    return "waiting";
  }
  if (!worker.online) {
    return worker.relaunching || !worker.why_offline ? "starting" : "offline";
  }
  if (worker.turn) {
    return "working";
  }
  return worker.resumes_at !== null && worker.resumes_at !== undefined && now < worker.resumes_at
    ? "limited"
    : "available";
}

/** Whether the last turn came to no good end: it failed, or was lost. */
function hasFailed(log: Log | undefined): boolean {
  const last = log?.entries.findLast((entry) => entry.type === "turn");
  const how = last?.type === "turn" ? last.view.ended?.how : undefined;
  return how === "failed" || how === "lost";
}

type Last = Pick<Worker, "lastLine" | "lastBy" | "lastAt">;

function lastOf(worker: wire.Worker, log: Log | undefined): Last {
  const waiting = worker.queue?.at(-1);
  if (waiting) {
    return { lastLine: lastLine(waiting.text), lastBy: "manager", lastAt: waiting.at };
  }
  const entry = log?.open ?? log?.entries.findLast((one) => lineOf(one).lastLine !== "");
  return entry ? lineOf(entry) : { lastLine: "", lastBy: "", lastAt: 0 };
}

function lineOf(entry: wire.HistoryEntry): Last {
  if (entry.type === "fact") {
    const { fact, at } = entry.event;
    const text = fact.type === "said" || fact.type === "responded" || fact.type === "noted" ? fact.text : "";
    return { lastLine: lastLine(text), lastBy: "worker", lastAt: at };
  }
  const { view, messages } = entry;
  const at = view.ended_at ?? view.started_at;
  if (view.text) {
    return { lastLine: lastLine(view.text), lastBy: "worker", lastAt: at };
  }
  if (view.ended?.error) {
    return { lastLine: lastLine(view.ended.error), lastBy: "worker", lastAt: at };
  }
  const said = messages?.at(-1);
  return { lastLine: lastLine(said?.text ?? ""), lastBy: said ? "manager" : "", lastAt: said?.at ?? at };
}

function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf("\n") + 1).slice(0, 200);
}

function unread(log: Log, read: number): number {
  return log.entries.filter((entry) =>
    entry.type === "turn" ? (entry.view.seq ?? 0) > read : entry.seq > read && TALK.has(entry.event.fact.type),
  ).length;
}

function openAsk(ask: wire.Ask, worker: wire.Worker, sources: TeamSources): OpenAsk {
  return {
    id: ask.id,
    worker: ask.worker,
    about: ask.about ?? "permission",
    question: ask.question,
    detail: ask.detail ?? "",
    choices: ask.choices,
    several: ask.several ?? false,
    action: ask.action ?? null,
    where: ask.where ?? "",
    why: ask.why ?? "",
    risks: ask.risks ?? [],
    questionPhrase: ask.question_phrase ?? null,
    riskPhrases: ask.risk_phrases ?? [],
    digest: ask.digest ?? "",
    deadline: ask.deadline ?? null,
    raisedAt: sources.raisedAt.get(ask.id) ?? worker.turn?.at ?? 0,
    answering: sources.answering.has(ask.id),
  };
}

function queued(message: wire.Message, worker: string): QueuedMessage {
  return {
    id: message.id,
    worker,
    text: message.text,
    at: message.at,
    who: message.by.who ?? "",
    attachments: message.attachments ?? [],
    now: message.steer ?? false,
  };
}
