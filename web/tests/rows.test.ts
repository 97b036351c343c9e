/** Rows of a conversation: keys that stay for life, receipts, and the same object for what did not change. */

import { expect, test } from "vitest";
import type { Parcel } from "../src/state/live/database";
import { type RowSources, rowsOf } from "../src/state/live/rows";
import type { MessageRow, Row } from "../src/state/types";
import { EMPTY, foldLog, type Log } from "../src/wire/log";
import { fold } from "../src/wire/present";
import { foldReceipts, type Receipts } from "../src/wire/receipts";
import type { Event, Fact, Present, TextPreview } from "../src/wire/types";

const VIA = "web-d1";
const ME = { via: VIA, who: "my phone" };
const MESSAGE = `${VIA}:01A`;

class Story {
  present: Present = {};
  log: Log = EMPTY;
  receipts: Receipts = {};
  private seq = 0;

  hear(fact: Fact, turn?: string): void {
    this.seq += 1;
    const event: Event = { seq: this.seq, at: this.seq, worker: "ann", fact, ...(turn ? { turn } : {}) };
    const before = this.present.workers?.ann;
    this.present = fold(this.present, event);
    this.log = foldLog(this.log, event, before, this.present.workers?.ann);
    this.receipts = foldReceipts(this.receipts, before, event);
  }

  rows(before: readonly Row[] = [], parcels: readonly Parcel[] = [], preview?: TextPreview): readonly Row[] {
    const queue = this.present.workers?.ann?.queue ?? [];
    const sources: RowSources = {
      log: this.log,
      queue,
      receipts: this.receipts,
      parcels,
      pictures: () => [],
      via: VIA,
      preview,
    };
    return rowsOf(sources, before);
  }
}

function hired(): Story {
  const story = new Story();
  story.hear({ type: "hired", backend: "demo", directory: "/", by: ME });
  return story;
}

function parcel(state: Parcel["state"], message = ""): Parcel {
  const command = { type: "say" as const, id: "01A", worker: "ann", text: "hello" };
  return { id: "01A", worker: "ann", command, at: 1.5, state, why: "", message, via: VIA, pictures: [] };
}

function mine(rows: readonly Row[]): MessageRow[] {
  return rows.filter((row) => row.kind === "message");
}

test("a message is one row with one key, from the phone to the answer", () => {
  const story = hired();
  const seen: string[] = [];
  const look = (parcels: readonly Parcel[] = []) => {
    const rows = mine(story.rows([], parcels));
    expect(rows.map((row) => [row.key, row.text])).toEqual([["01A", "hello"]]);
    seen.push(rows[0]?.receipt ?? "");
  };
  look([parcel("waiting")]);
  look([parcel("accepted", MESSAGE)]);
  story.hear({ type: "queued", message: MESSAGE, text: "hello", by: ME });
  look([parcel("accepted", MESSAGE)]);
  story.hear({ type: "turn_started", message: MESSAGE }, "t1");
  look();
  story.hear({ type: "handed_over", message: MESSAGE }, "t1");
  look();
  story.hear({ type: "seen", message: MESSAGE }, "t1");
  look();
  story.hear({ type: "said", text: "Hi." }, "t1");
  story.hear({ type: "turn_ended", how: "completed" }, "t1");
  look();
  expect(seen).toEqual(["on-phone", "accepted", "queued", "started", "handed-over", "seen", "answered"]);
});

test("while text streams only the turn that it belongs to is another object", () => {
  const story = hired();
  for (const name of ["a", "b"]) {
    story.hear({ type: "queued", message: name, text: name, by: ME });
    story.hear({ type: "turn_started", message: name }, name);
    story.hear({ type: "said", text: "one" }, name);
    if (name === "a") {
      story.hear({ type: "turn_ended", how: "completed" }, name);
    }
  }
  const before = story.rows();
  expect(story.rows(before)).toBe(before);
  story.hear({ type: "said", text: " two" }, "b");
  const after = story.rows(before);
  expect(after.filter((row, place) => row !== before[place]).map((row) => row.key)).toEqual([before.at(-1)?.key]);
  expect(after.map((row) => row.key)).toEqual(before.map((row) => row.key));
});

test("a refused message stays where it was written, and what waits stands last", () => {
  const story = hired();
  const refused = { ...parcel("refused"), why: "no" };
  story.hear({ type: "queued", message: "x", text: "later", by: { via: "telegram" } });
  story.hear({ type: "turn_started", message: "x" }, "x");
  const keys = story.rows([], [refused]).map((row) => row.key);
  expect(keys).toEqual(["event:1", "01A", "x", expect.stringContaining("turn:x")]);
});

test("a piece of text costs the running turn alone, however long the conversation is", () => {
  const story = hired();
  for (let n = 0; n < 1500; n += 1) {
    const name = `m${n}`;
    story.hear({ type: "queued", message: name, text: name, by: ME });
    story.hear({ type: "turn_started", message: name }, name);
    story.hear({ type: "said", text: "one" }, name);
    if (n < 1499) {
      story.hear({ type: "turn_ended", how: "completed" }, name);
    }
  }
  const before = story.rows();
  story.hear({ type: "said", text: " two" }, "m1499");
  // No message row is even made anew: what is compared is what was there.
  const after = story.rows([...before]);
  expect(after.slice(0, -1).every((row, place) => row === before[place])).toBe(true);
  expect(after.at(-1)).not.toBe(before.at(-1));
});

test("what was typed at the desk stands before its answer, and a preview until the words themselves come", () => {
  const story = hired();
  story.hear({ type: "turn_started", text: "typed there" }, "desk-1");
  const preview = { worker: "ann", turn: "desk-1", text: "as the screen sh" };
  const [typed, turn] = story.rows([], [], preview).slice(-2);
  expect(typed).toMatchObject({ kind: "message", text: "typed there", via: "desk", mine: false });
  expect(turn).toMatchObject({ kind: "turn", text: "as the screen sh" });
  story.hear({ type: "said", text: "the words" }, "desk-1");
  expect(story.rows([], [], { ...preview, text: "" }).at(-1)).toMatchObject({ text: "the words" });
  expect(story.rows([], [], preview).at(-1)).toMatchObject({ text: "the words\n\nas the screen sh" });
  story.hear({ type: "turn_ended", how: "completed" }, "desk-1");
  expect(story.rows([], [], preview).at(-1)).toMatchObject({ text: "the words" });
});
