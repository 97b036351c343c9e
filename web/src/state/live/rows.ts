/** A conversation as rows: entries, the running turn, what waits on the node, and what is still on the phone. Pure. */

import type { Log } from "../../wire/log";
import { type Receipts, receiptOfTurn } from "../../wire/receipts";
import type * as wire from "../../wire/types";
import type { AskedInTurn, EventRow, MessageRow, Picture, Receipt, Row, ToolCall, TurnRow } from "../types";
import type { Parcel } from "./database";

export interface RowSources {
  readonly log: Log;
  readonly queue: readonly wire.Message[];
  readonly receipts: Receipts;
  /** The messages to this worker that the node has not shown yet. */
  readonly parcels: readonly Parcel[];
  readonly pictures: (ids: readonly string[]) => readonly Picture[];
  /** What this device speaks as. */
  readonly via: string;
  /** What the agent is saying, as its screen shows it. */
  readonly preview?: wire.TextPreview | undefined;
}

/** What a message is said over that nobody sent: it was typed at the agent's own terminal. */
const DESK = "desk";
const turnRows = new WeakMap<wire.TurnView, TurnRow>();
const eventRows = new WeakMap<wire.Event, EventRow | null>();
const toolCalls = new WeakMap<wire.ToolView, ToolCall>();

/** A row that did not change since `before` is the same object. */
export function rowsOf(sources: RowSources, before: readonly Row[]): readonly Row[] {
  const { log, queue, parcels, via } = sources;
  const shown = new Set<string>();
  const known = inOrder(log).flatMap((entry) => rowsOfEntry(entry, log, sources, shown));
  const past = sources.preview?.text ? known.map((row) => withPreview(row, sources.preview)) : known;
  const waiting = queue.map((message) => messageRow(message, "queued", via));
  for (const message of queue) {
    shown.add(message.id);
  }
  const mine = parcels.filter((parcel) => !shown.has(parcel.message || `${via}:${parcel.id}`));
  const stuck = mine.filter((parcel) => parcel.state === "refused" || parcel.state === "doubted");
  const onTheWay = mine.filter((parcel) => parcel.state === "waiting" || parcel.state === "accepted");
  const rows = [
    ...stuck.reduce<readonly Row[]>((all, parcel) => insertedByTime(all, parcelRow(parcel, sources)), past),
    ...waiting,
    ...onTheWay.map((parcel) => parcelRow(parcel, sources)),
  ];
  return kept(rows, before);
}

function inOrder({ entries, open }: Log): readonly wire.HistoryEntry[] {
  if (open === null) {
    return entries;
  }
  const place = entries.findLastIndex((entry) => entry.seq <= open.seq) + 1;
  return [...entries.slice(0, place), open, ...entries.slice(place)];
}

/** The running turn with the words that its agent has not written down yet. */
function withPreview(row: Row, preview: wire.TextPreview | undefined): Row {
  if (!preview?.text || row.kind !== "turn" || !row.live || row.turn !== preview.turn) {
    return row;
  }
  return { ...row, text: row.text ? `${row.text}\n\n${preview.text}` : preview.text };
}

interface EntryRows {
  readonly receipts: Receipts;
  readonly via: string;
  readonly rows: readonly Row[];
}

const entryRows = new WeakMap<wire.TurnEntry, EntryRows>();

function rowsOfEntry(entry: wire.HistoryEntry, log: Log, sources: RowSources, shown: Set<string>): readonly Row[] {
  if (entry.type === "fact") {
    const row = eventRow(entry.event, log);
    return row === null ? [] : [row];
  }
  for (const message of entry.messages ?? []) {
    shown.add(message.id);
  }
  const { receipts, via } = sources;
  const known = entryRows.get(entry);
  // While text streams no receipt changes: of thousands of entries only the running turn is made anew.
  if (known?.receipts === receipts && known.via === via) {
    return known.rows;
  }
  const said = (entry.messages ?? []).map((message) =>
    messageRow(message, asReceipt(receipts[message.id] ?? receiptOfTurn(entry)), via, entry.view.doubted ?? ""),
  );
  const rows = [...said, ...typedRows(entry.view), turnRow(entry.view, entry.seq)];
  entryRows.set(entry, { receipts, via, rows });
  return rows;
}

/** What somebody typed into the agent's own box at the desk; the agent had it at once. */
function typedRows({ turn, typed, started_at: at }: wire.TurnView): readonly MessageRow[] {
  const id = `typed:${turn}`;
  return typed ? [messageRow({ id, text: typed, at, by: { via: DESK } }, "answered", "")] : [];
}

function asReceipt(receipt: wire.Receipt): Receipt {
  return receipt === "handed over" ? "handed-over" : receipt;
}

function messageRow(message: wire.Message, receipt: Receipt, via: string, why = ""): MessageRow {
  const mine = message.by.via === via;
  return {
    kind: "message",
    key: keyOf(message.id, via),
    id: message.id,
    text: message.text,
    at: message.at,
    mine,
    who: message.by.who ?? "",
    via: message.by.via,
    attachments: message.attachments ?? NONE,
    pictures: NONE,
    receipt,
    why: receipt === "unknown" ? why : "",
  };
}

const NONE: readonly never[] = [];

/** What this device called a message stays its key for life. */
export function keyOf(message: string, via: string): string {
  return message.startsWith(`${via}:`) ? message.slice(via.length + 1) : message;
}

function parcelRow(parcel: Parcel, sources: RowSources): MessageRow {
  const receipts: Record<Parcel["state"], Receipt> = {
    waiting: "on-phone",
    accepted: "accepted",
    refused: "refused",
    doubted: "unknown",
  };
  return {
    kind: "message",
    key: parcel.id,
    id: parcel.message,
    text: parcel.command.type === "say" ? parcel.command.text : "",
    at: parcel.at,
    mine: true,
    who: "",
    via: sources.via,
    attachments: NONE,
    pictures: parcel.pictures.length > 0 ? sources.pictures(parcel.pictures) : NONE,
    receipt: receipts[parcel.state],
    why: parcel.why,
  };
}

function insertedByTime(rows: readonly Row[], row: MessageRow): readonly Row[] {
  const place = rows.findLastIndex((one) => (one.kind === "turn" ? one.startedAt : one.at) <= row.at) + 1;
  return [...rows.slice(0, place), row, ...rows.slice(place)];
}

function turnRow(view: wire.TurnView, seq: number): TurnRow {
  const known = turnRows.get(view);
  if (known) {
    return known;
  }
  const row: TurnRow = {
    kind: "turn",
    key: `turn:${view.turn}:${seq}`,
    turn: view.turn,
    seq,
    startedAt: view.started_at,
    endedAt: view.ended_at ?? null,
    live: !view.ended,
    thought: view.thought ?? "",
    text: view.text ?? "",
    tools: (view.tools ?? NONE).map(toolCall),
    asks: (view.asks ?? NONE).map((ask) => asked(ask.raised, ask.settled ?? null, ask.problem ?? "")),
    files: view.files ?? NONE,
    notes: view.notes ?? NONE,
    how: view.ended?.how ?? null,
    error: view.ended?.error ?? "",
    advice: view.ended?.advice ?? "",
    advicePhrase: view.ended?.advice_phrase ?? null,
    usage: view.usage ?? null,
  };
  turnRows.set(view, row);
  return row;
}

function toolCall(view: wire.ToolView): ToolCall {
  const known = toolCalls.get(view);
  if (known) {
    return known;
  }
  const { call, tool, title, detail = "", started_at, ok = null, output = "" } = view;
  const made = { call, tool, title, detail, startedAt: started_at, ok, output };
  toolCalls.set(view, made);
  return made;
}

function asked(raised: wire.AskRaised, settled: wire.AskSettled | null, problem: string): AskedInTurn {
  return {
    id: raised.ask,
    about: raised.about ?? "permission",
    question: raised.question,
    detail: raised.detail ?? "",
    choices: raised.choices,
    action: raised.action ?? null,
    settled: settled && {
      how: settled.how,
      choice: settled.choice ?? "",
      note: settled.note ?? "",
      who: settled.by?.who ?? "",
    },
    problem,
  };
}

function eventRow(event: wire.Event, log: Log): EventRow | null {
  const known = eventRows.get(event);
  // How a question between turns was settled is another entry, which may have come since.
  if (known !== undefined && event.fact.type !== "ask_raised") {
    return known;
  }
  const what = whatOf(event.fact, log);
  const row = what && { kind: "event" as const, key: `event:${event.seq}`, seq: event.seq, at: event.at, what };
  eventRows.set(event, row);
  return row;
}

function whatOf(fact: wire.Fact, log: Log): EventRow["what"] | null {
  switch (fact.type) {
    case "hired":
      return { type: "hired", backend: fact.backend, directory: fact.directory, note: fact.note ?? "" };
    case "ended":
      return { type: "ended", resume: fact.resume ?? "" };
    case "came_online":
      return { type: "online", back: fact.back ?? false };
    case "went_offline":
      return { type: "offline", why: fact.why, whyPhrase: fact.why_phrase ?? null, asked: fact.asked ?? false };
    case "tuned":
      return {
        type: "tuned",
        model: fact.model ?? "",
        mode: fact.mode ?? "",
        effort: fact.effort ?? "",
        refused: fact.refused ?? "",
      };
    case "limited":
      return { type: "limited", text: fact.text, until: fact.until ?? null };
    case "limit_lifted":
      return { type: "limit-lifted" };
    case "said":
      return { type: "said", text: fact.text };
    case "responded":
      return { type: "responded", text: fact.text, html: fact.html ?? true };
    case "showed":
      return { type: "showed", file: fact.file };
    case "noted":
      return { type: "noted", text: fact.text };
    case "sprint_began":
      return { type: "sprint-began", tasks: fact.sprint.tasks?.length ?? 0 };
    case "sprint_ended":
      return sprintEnded(fact);
    case "ask_raised":
      return { type: "asked", ask: asked(fact, settlementOf(fact.ask, log), "") };
    default:
      return null;
  }
}

function sprintEnded({ how, why = "", sprint }: wire.SprintEnded): EventRow["what"] {
  const outcomes = sprint.outcomes ?? [];
  const done = outcomes.filter((one) => one.done).length;
  return { type: "sprint-ended", how, why, done, tasks: sprint.tasks?.length || outcomes.length };
}

function settlementOf(ask: string, log: Log): wire.AskSettled | null {
  for (const entry of log.entries) {
    if (entry.type === "fact" && entry.event.fact.type === "ask_settled" && entry.event.fact.ask === ask) {
      return entry.event.fact;
    }
  }
  return null;
}

function kept(rows: readonly Row[], before: readonly Row[]): readonly Row[] {
  let known: Map<string, Row> | null = null;
  const same = rows.map((row, place) => {
    if (row === before[place]) {
      return row;
    }
    known ??= new Map(before.map((old) => [old.key, old]));
    const old = known.get(row.key);
    return old !== undefined && isSame(old, row) ? old : row;
  });
  return same.length === before.length && same.every((row, place) => row === before[place]) ? before : same;
}

function isSame(one: Row, other: Row): boolean {
  return one.kind === "message" && other.kind === "message" ? equalFields(one, other) : false;
}

/** Whether two objects have the very same values in all their fields. */
export function equalFields<T extends object>(one: T, other: T): boolean {
  return (Object.keys(one) as (keyof T)[]).every((name) => Object.is(one[name], other[name]));
}
