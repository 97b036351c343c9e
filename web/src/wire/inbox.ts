/** What waits for the person, over all workers, from the present: as the node's own list (`model/inbox.py`). Pure. */

import type { Ask, Present, ReviewState, Worker } from "./types";

export type InboxKind = "ask" | "doubt" | "offline" | "sprint" | "limit" | "review";

export interface InboxItem {
  readonly kind: InboxKind;
  readonly worker: string;
  /** The id of the ask, the message or the review. */
  readonly key: string;
  readonly text: string;
}

export function inbox(present: Present): readonly InboxItem[] {
  const workers = Object.values(present.workers ?? {});
  const asks = workers.flatMap((worker) => (worker.asks ?? []).filter((ask) => !ask.settled));
  return [...asks.sort((a, b) => a.seq - b.seq).map(asked), ...workers.flatMap(waitsAt)];
}

function asked(ask: Ask): InboxItem {
  return { kind: "ask", worker: ask.worker, key: ask.id, text: ask.question };
}

/** What of one worker needs somebody, beside its questions. */
export function waitsAt(worker: Worker): readonly InboxItem[] {
  const { name, turn } = worker;
  const items: InboxItem[] = [];
  const wait = (kind: InboxKind, text = "", key = "") => items.push({ kind, worker: name, key, text });
  if (turn?.doubted && turn.message) wait("doubt", turn.message.text, turn.message.id);
  if (!worker.online && worker.why_offline && !worker.relaunching) wait("offline", worker.why_offline);
  if (worker.stuck) wait("sprint", worker.stuck);
  if ((worker.resumes_at ?? null) !== null && !turn) wait("limit");
  const last = worker.reviews?.at(-1);
  if (last && wantsChanges(last)) wait("review", summaryOf(last), last.id);
  return items;
}

function wantsChanges(review: ReviewState): boolean {
  const dealtWith = Boolean(review.gate || review.sent?.length || review.stale || review.problem);
  const judged = review.reviewers.map((one) => one.verdict?.judgement);
  return review.phase === "over" && !dealtWith && judged.includes("changes");
}

function summaryOf(review: ReviewState): string {
  return review.reviewers.find((one) => one.verdict?.judgement === "changes")?.verdict?.summary ?? "";
}
