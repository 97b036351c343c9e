/** What is known of the team: the present, the conversations and the receipts, folded event by event. Holds no connection. */

import { foldLog, fromPage, type Log, withOlder } from "../../wire/log";
import { fold } from "../../wire/present";
import { foldReceipts, type Receipts } from "../../wire/receipts";
import type { Event, HistoryPage, Present } from "../../wire/types";
import type { Cursor, Kept } from "./database";

/** How many receipts are remembered; a message that is older has its turn to tell. */
const KEPT_RECEIPTS = 500;

export class TeamState {
  cursor: Cursor | null;
  present: Present;
  /** Whether anything is known at all. */
  known: boolean;
  receipts: Receipts = {};
  readonly logs: Map<string, Log>;
  readonly raisedAt = new Map<string, number>();
  /** The conversations that changed since they were last kept. */
  readonly changed = new Set<string>();

  constructor(kept: Kept) {
    this.cursor = kept.cursor;
    this.present = kept.present ?? {};
    this.known = kept.present !== null;
    this.logs = new Map(kept.logs);
  }

  /** Takes events in; those that are known already change nothing. Returns the messages that they show. */
  take(events: readonly Event[]): ReadonlySet<string> {
    const shown = new Set<string>();
    for (const event of events) {
      if (event.fact.type === "queued") {
        shown.add(event.fact.message);
      }
      this.takeOne(event);
    }
    this.prune();
    return shown;
  }

  private takeOne(event: Event): void {
    const isNew = event.seq > (this.present.seq ?? 0);
    const before = this.present.workers?.[event.worker];
    if (isNew) {
      this.present = fold(this.present, event);
      this.receipts = foldReceipts(this.receipts, before, event);
    }
    this.takeIntoLog(event, before);
    if (event.fact.type === "ask_raised") {
      this.raisedAt.set(event.fact.ask, event.at);
    }
    if (this.cursor !== null && event.seq > this.cursor.after) {
      this.cursor = { ...this.cursor, after: event.seq };
    }
  }

  private takeIntoLog(event: Event, before: NonNullable<Present["workers"]>[string] | undefined): void {
    const log = this.logs.get(event.worker);
    // Whose past was never read has none here: a page of it comes whole when it is looked at.
    const start: Log | undefined =
      event.fact.type === "hired" ? { seq: 0, entries: log?.entries ?? [], open: null, more: false } : log;
    if (start === undefined) {
      return;
    }
    const next = foldLog(start, event, before, this.present.workers?.[event.worker]);
    if (next !== log) {
      this.logs.set(event.worker, next);
      this.changed.add(event.worker);
    }
  }

  private prune(): void {
    const names = Object.keys(this.receipts);
    if (names.length > 2 * KEPT_RECEIPTS) {
      const newest = names.slice(-KEPT_RECEIPTS);
      this.receipts = Object.fromEntries(newest.map((name) => [name, this.receipts[name] ?? "unknown"]));
    }
  }

  /** Begins anew from what the node says: after a gap nothing that was folded before counts. */
  reset(cursor: Cursor, present: Present, pages: ReadonlyMap<string, HistoryPage>): void {
    this.cursor = cursor;
    this.present = present;
    this.known = true;
    this.receipts = {};
    this.logs.clear();
    for (const [worker, page] of pages) {
      this.logs.set(worker, fromPage(page));
      this.changed.add(worker);
    }
  }

  addPage(worker: string, page: HistoryPage): void {
    this.logs.set(worker, fromPage(page));
    this.changed.add(worker);
  }

  addOlder(worker: string, page: HistoryPage): void {
    const log = this.logs.get(worker);
    if (log) {
      this.logs.set(worker, withOlder(log, page));
      this.changed.add(worker);
    }
  }

  forget(): void {
    this.cursor = null;
    this.present = {};
    this.known = false;
    this.receipts = {};
    this.logs.clear();
    this.changed.clear();
  }
}
