/** The outbox: written down before the first try, sent once, in order, whatever happens between. */

import "fake-indexeddb/auto";
import { expect, test } from "vitest";
import { type Parcel, PhoneDatabase } from "../src/state/live/database";
import { Outbox } from "../src/state/live/outbox";
import { NodeApi } from "../src/wire/http";

/** A node that remembers what it was sent, and answers as it is told. */
class FakeNode {
  answers: ("ok" | "cut" | "lost" | number)[] = [];
  readonly taken = new Map<string, string>();
  readonly heard: string[] = [];

  fetch = async (_: string, options?: RequestInit): Promise<Response> => {
    const command = JSON.parse(String(options?.body)) as { id: string; text: string };
    this.heard.push(command.text);
    const answer = this.answers.shift() ?? "ok";
    if (answer === "cut") {
      throw new TypeError("network");
    }
    if (typeof answer === "number") {
      const error = { code: answer === 403 ? "not_allowed" : "offline", text: `no: ${answer}`, details: {} };
      return new Response(JSON.stringify({ error }), { status: answer });
    }
    this.taken.set(command.id, command.text);
    if (answer === "lost") {
      throw new TypeError("the answer was lost");
    }
    const accepted = { id: command.id, seq: 1, message: `web-d1:${command.id}` };
    return new Response(JSON.stringify({ accepted }));
  };
}

function say(id: string, text: string): Parcel {
  const command = { type: "say" as const, id, worker: "ann", text };
  return { id, worker: "ann", command, at: 1, state: "waiting", why: "", message: "", via: "", pictures: [] };
}

async function opened(node: FakeNode, database?: PhoneDatabase) {
  const store = database ?? (await PhoneDatabase.open(crypto.randomUUID()));
  const told: string[] = [];
  const kept = await store.read();
  const outbox = new Outbox(kept.outbox, store, new NodeApi(node.fetch), {
    prepared: async (parcel) => parcel,
    delivered: (parcel) => told.push(`delivered ${parcel.id}`),
    changed: () => undefined,
    refused: (parcel) => told.push(`refused ${parcel.id}`),
    stranger: () => told.push("stranger"),
    unreachable: () => told.push("unreachable"),
  });
  return { outbox, store, told };
}

test("what the node did not answer is sent again with the same id, and is one message", async () => {
  const node = new FakeNode();
  node.answers = ["cut", 503, "lost", "ok"];
  const { outbox } = await opened(node);
  await outbox.speakAs("web-d1");
  await outbox.add(say("1", "one"));
  for (let tried = 0; tried < 4; tried += 1) {
    await outbox.flush();
  }
  expect(node.heard.length).toBeGreaterThanOrEqual(4);
  expect([...node.taken]).toEqual([["1", "one"]]);
  expect(outbox.all.map(({ state, message }) => [state, message])).toEqual([["accepted", "web-d1:1"]]);
  await outbox.shown(new Set(["web-d1:1"]));
  expect(outbox.all).toEqual([]);
});

test("messages keep their order: a later one waits for an earlier one", async () => {
  const node = new FakeNode();
  node.answers = ["cut"];
  const { outbox } = await opened(node);
  await outbox.speakAs("web-d1");
  await outbox.add(say("1", "one"));
  await outbox.add(say("2", "two"));
  await outbox.flush();
  await outbox.flush();
  expect([...node.taken.values()]).toEqual(["one", "two"]);
});

test("before it is known who this device is nothing is sent", async () => {
  const node = new FakeNode();
  const { outbox } = await opened(node);
  await outbox.add(say("1", "one"));
  await outbox.flush();
  expect(node.heard).toEqual([]);
});

test("a refusal keeps the text and the reason, and the next one is sent", async () => {
  const node = new FakeNode();
  node.answers = [400, "ok"];
  const { outbox } = await opened(node);
  await outbox.speakAs("web-d1");
  await outbox.add(say("1", "one"));
  await outbox.add(say("2", "two"));
  await outbox.flush();
  await outbox.flush();
  const [first, second] = outbox.all;
  expect([first?.state, first?.why, first?.command.type === "say" && first.command.text]).toEqual([
    "refused",
    "no: 400",
    "one",
  ]);
  expect(second?.state).toBe("accepted");
});

test("a node that does not know the device gets nothing, and nothing is lost", async () => {
  const node = new FakeNode();
  node.answers = [403];
  const { outbox, told } = await opened(node);
  await outbox.speakAs("web-d1");
  await outbox.add(say("1", "one"));
  await outbox.flush();
  expect(told).toContain("stranger");
  expect(outbox.all[0]?.state).toBe("waiting");
});

test("after a crash what was written down is sent with the same id", async () => {
  const node = new FakeNode();
  node.answers = ["lost"];
  const first = await opened(node);
  await first.outbox.speakAs("web-d1");
  await first.outbox.add(say("1", "one"));
  await first.outbox.flush();
  const second = await opened(node, first.store);
  await second.outbox.speakAs("web-d1");
  await second.outbox.flush();
  expect([...node.taken]).toEqual([["1", "one"]]);
});

test("a phone that was paired anew does not send again what it may have sent before", async () => {
  const node = new FakeNode();
  node.answers = ["lost"];
  const first = await opened(node);
  await first.outbox.speakAs("web-d1");
  await first.outbox.add(say("1", "one"));
  await first.outbox.flush();
  const heard = node.heard.length;
  const second = await opened(node, first.store);
  await second.outbox.add(say("2", "never tried"));
  await second.outbox.speakAs("web-d2");
  await second.outbox.flush();
  expect(node.heard.slice(heard)).toEqual(["never tried"]);
  expect(second.outbox.all[0]?.state).toBe("doubted");
});

test("a message and its draft change places in one step", async () => {
  const store = await PhoneDatabase.open(crypto.randomUUID());
  await store.keepDraft("ann", { text: "one", pictures: [] });
  await store.send(say("1", "one"), "ann");
  const kept = await store.read();
  expect([kept.drafts.size, kept.outbox.length]).toEqual([0, 1]);
});
