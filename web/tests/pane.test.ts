/** A worker's terminal over the node's API: pieces in order, the node's own words where there is none, typing once. */

import { expect, test } from "vitest";
import { typeInto, watchPane } from "../src/state/live/pane";
import type { PanePiece } from "../src/state/types";
import type { Fetch } from "../src/wire/http";

function frame(text: string, more: object = {}): string {
  return `data: ${JSON.stringify({ now: { at: 1, pane: { data: btoa(text), ...more } } })}\n\n`;
}

/** What was handed over until the end, and why it ended. */
function watched(fetch: Fetch): Promise<{ pieces: PanePiece[]; why: string }> {
  return new Promise((done) => {
    const pieces: PanePiece[] = [];
    watchPane(
      fetch,
      "än n",
      (piece) => pieces.push(piece),
      (why) => done({ pieces, why }),
    );
  });
}

test("pieces come in order, with the size of the screen, and heartbeats are none", async () => {
  const asked: string[] = [];
  const body = `${frame("one", { columns: 80, rows: 24, reset: true })}data: {"now":{"at":2}}\n\n${frame("two")}`;
  const { pieces, why } = await watched(async (address) => {
    asked.push(address);
    return new Response(body);
  });
  expect(asked).toEqual(["/api/workers/%C3%A4n%20n/pane"]);
  expect(pieces.map((piece) => [new TextDecoder().decode(piece.bytes), piece.columns, piece.reset])).toEqual([
    ["one", 80, true],
    ["two", 0, false],
  ]);
  expect(why).toBe("");
});

test("an agent without a terminal says so in the node's words", async () => {
  const error = JSON.stringify({ error: { code: "cannot_do", text: "ann has no terminal right now." } });
  const { pieces, why } = await watched(async () => new Response(error, { status: 409 }));
  expect([pieces.length, why]).toEqual([0, "ann has no terminal right now."]);
});

test("what is typed is posted once, and a lost answer is told and not tried again", async () => {
  const bodies: string[] = [];
  const taken: Fetch = async (_address, options) => {
    bodies.push(String(options?.body));
    return new Response(null, { status: 204 });
  };
  expect(await typeInto(taken, "ann", { text: "ls", paste: true, keys: ["Enter"] })).toEqual({ ok: true });
  expect(bodies).toEqual(['{"text":"ls","paste":true,"keys":["Enter"]}']);
  let tries = 0;
  const lost: Fetch = async () => {
    tries += 1;
    throw new TypeError("network");
  };
  expect((await typeInto(lost, "ann", { keys: ["Enter"] })).ok).toBe(false);
  expect(tries).toBe(1);
});
