/** The whole state against a scripted node: cut, asleep, restored from a backup; nothing missing, nothing twice, no early banner. */

import "fake-indexeddb/auto";
import { afterEach, expect, test } from "vitest";
import { LiveApp } from "../src/state/live/app";
import { GRACE_MILLISECONDS } from "../src/state/live/connection";
import { PhoneDatabase } from "../src/state/live/database";
import { DESK_SECONDS, Presence } from "../src/state/live/presence";
import type { Row } from "../src/state/types";
import { EMPTY, foldLog, type Log } from "../src/wire/log";
import { fold } from "../src/wire/present";
import type { Event, Fact, Opening, Present } from "../src/wire/types";
import { Clock, settled } from "./clock";

const NOW = 1_000_000;
const ME = { via: "web-d1", who: "my phone" };

/** A node that a test writes the journal of: it answers as the real one does, and can be cut off. */
class FakeNode {
  journal = "first";
  known = ["first"];
  events: Event[] = [];
  isDown = false;
  isStranger = false;
  dials: Opening[] = [];
  commands: { id: string; text?: string }[] = [];
  /** What the phone says that it looks at, when a connection opens and later. */
  views: unknown[] = [];
  onDial: () => void = () => undefined;
  private streams: ReadableStreamDefaultController<Uint8Array>[] = [];

  hear(fact: Fact, turn?: string, at = 1): void {
    const event: Event = { seq: this.events.length + 1, at, worker: "ann", fact, ...(turn ? { turn } : {}) };
    this.events.push(event);
    this.send({ events: [event] });
  }

  /** A turn with that answer, in pieces. */
  answer(name: string, ...pieces: readonly string[]): void {
    this.hear({ type: "queued", message: name, text: `say ${name}`, by: ME });
    this.hear({ type: "turn_started", message: name }, name);
    for (const text of pieces) {
      this.hear({ type: "said", text }, name);
    }
    this.hear({ type: "turn_ended", how: "completed" }, name);
  }

  cut(): void {
    for (const stream of this.streams) {
      try {
        stream.error(new TypeError("network"));
      } catch {
        // It was closed by the other side.
      }
    }
    this.streams = [];
  }

  /** What has no number. */
  now(now: object): void {
    this.send({ now: { at: 1, ...now } });
  }

  private send(frame: unknown): void {
    for (const stream of this.streams) {
      stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`));
    }
  }

  private folded(): { present: Present; log: Log } {
    let [present, log]: [Present, Log] = [{}, EMPTY];
    for (const event of this.events) {
      const before = present.workers?.ann;
      present = fold(present, event);
      log = foldLog(log, event, before, present.workers?.ann);
    }
    return { present, log };
  }

  fetch = async (address: string, options?: RequestInit): Promise<Response> => {
    if (this.isDown) {
      throw new TypeError("network");
    }
    if (this.isStranger) {
      return Response.json({ error: { code: "not_allowed", text: "no", details: {} } }, { status: 403 });
    }
    const path = address.split("?")[0];
    const body = options?.body ? JSON.parse(String(options.body)) : null;
    const { present, log } = this.folded();
    switch (path) {
      case "/api/hub/stream":
        return this.stream(body as Opening, options?.signal ?? null);
      case "/api/hub/view":
        this.views.push(body);
        return new Response(null, { status: 204 });
      case "/api/hub/present":
        return Response.json({ present });
      case "/api/hub/history":
        return Response.json({ history: { seq: log.seq, entries: log.entries, open: log.open, more: false } });
      case "/api/devices":
        return Response.json({ devices: [{ id: "d1", name: "my phone", paired_at: 1 }], me: "d1" });
      case "/api/hub/commands":
        if (!this.commands.some((one) => one.id === body.id)) {
          this.commands.push(body);
          if (body.type === "say") {
            this.hear({ type: "queued", message: `web-d1:${body.id}`, text: body.text, by: ME });
          }
        }
        return Response.json({ accepted: { id: body.id, seq: this.events.length, message: `web-d1:${body.id}` } });
      default:
        return new Response("", { status: 404 });
    }
  };

  private stream(opening: Opening, signal: AbortSignal | null): Response {
    this.dials.push(opening);
    this.views.push(opening.view);
    this.onDial();
    const { resume } = opening;
    const isWhole = resume && this.known.includes(resume.journal) && resume.after <= this.events.length;
    const stream = new ReadableStream<Uint8Array>({
      start: (control) => {
        this.streams.push(control);
        signal?.addEventListener("abort", () => {
          this.streams = this.streams.filter((one) => one !== control);
          control.error(new TypeError("aborted"));
        });
        const hello = { hello: 1, journal: this.journal, first: 1, seq: this.events.length };
        const missed = isWhole ? this.events.slice(resume.after) : [];
        for (const frame of [{ ...hello, resume: isWhole ? "whole" : "gap", build: "1" }, { events: missed }]) {
          control.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`));
        }
      },
    });
    return new Response(stream);
  }
}

const open: LiveApp[] = [];
afterEach(() => {
  for (const app of open.splice(0)) {
    app.link.stop();
  }
});

async function opened(node: FakeNode, clock = new Clock(NOW), database?: PhoneDatabase) {
  const store = database ?? (await PhoneDatabase.open(crypto.randomUUID()));
  const app = new LiveApp(await store.read(), {
    fetch: node.fetch,
    connect: null,
    timers: clock,
    onFrame: (call) => void setImmediate(call),
    isVisible: () => true,
    database: store,
  });
  open.push(app);
  app.dial();
  await settled();
  return { app, clock, store };
}

function hired(): FakeNode {
  const node = new FakeNode();
  node.hear({ type: "hired", backend: "demo", directory: "/", by: ME });
  node.hear({ type: "came_online" });
  return node;
}

function texts(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => (row.kind === "turn" ? [row.text] : row.kind === "message" ? [row.text] : []));
}

test("a new client reads the present and the history, then what happens", async () => {
  const node = hired();
  node.answer("a", "one", " two");
  const { app } = await opened(node);
  const { rows, status } = app.conversation("ann");
  node.answer("b", "three");
  await settled();
  expect(texts(rows.value)).toEqual(["say a", "one two", "say b", "three"]);
  expect([status.value, app.connection.value.link, app.device.value?.id]).toEqual(["ready", "live", "d1"]);
});

test("whoever looks elsewhere while a connection opens is not taken for looking there still", async () => {
  const node = hired();
  const { app, clock } = await opened(node);
  app.look("ann");
  node.onDial = () => app.look("");
  node.cut();
  await settled();
  await clock.advance(2_000);
  expect(app.connection.value.link).toBe("live");
  expect(node.views.slice(-2)).toEqual([
    { worker: "ann", visible: true },
    { worker: "", visible: true },
  ]);
  // Once is enough.
  node.onDial = () => undefined;
  const told = node.views.length;
  node.cut();
  await settled();
  await clock.advance(2_000);
  expect(node.views.slice(told)).toEqual([{ worker: "", visible: true }]);
});

test("30 s without a network: nothing is said in the first seconds, and nothing is missing or twice after it", async () => {
  const node = hired();
  node.answer("a", "one");
  const { app, clock } = await opened(node);
  const { rows } = app.conversation("ann");
  node.isDown = true;
  node.cut();
  await settled();
  await clock.advance(GRACE_MILLISECONDS - 1);
  expect(app.connection.value.link).toBe("catching-up");
  node.answer("b", "two");
  await clock.advance(30_000 - GRACE_MILLISECONDS);
  expect(app.connection.value.link).toBe("offline");
  node.isDown = false;
  await clock.advance(30_000);
  expect(app.connection.value.link).toBe("live");
  expect(node.dials.at(-1)?.resume).toEqual({ journal: "first", after: 6 });
  expect(texts(rows.value)).toEqual(["say a", "one", "say b", "two"]);
});

test("a phone that slept for an hour on a dead connection is whole a moment after it wakes", async () => {
  const node = hired();
  const { app, clock } = await opened(node);
  const { rows } = app.conversation("ann");
  // iOS leaves a dead connection open: nothing comes, and nothing says so.
  (node as unknown as { streams: unknown[] }).streams = [];
  for (const name of ["a", "b", "c"]) {
    node.answer(name, name);
  }
  clock.time += 3_600_000;
  app.woke();
  await clock.advance(0);
  expect(app.connection.value.link).toBe("live");
  expect(texts(rows.value)).toEqual(["say a", "a", "say b", "b", "say c", "c"]);
});

test("a node that was restored from a backup is read anew, for its numbers mean something else", async () => {
  const node = hired();
  node.answer("a", "one");
  node.answer("lost", "what the backup does not have");
  const { app, clock } = await opened(node);
  const { rows } = app.conversation("ann");
  expect(texts(rows.value)).toHaveLength(4);
  node.events = node.events.slice(0, 6);
  node.journal = "restored";
  node.known = ["restored"];
  node.answer("other", "another past");
  node.cut();
  await settled();
  await clock.advance(2_000);
  expect(texts(rows.value)).toEqual(["say a", "one", "say other", "another past"]);
});

test("after a restart of the app the last state is there without a network, and the rest comes when there is one", async () => {
  const node = hired();
  node.answer("a", "one");
  const first = await opened(node);
  await first.app.keepAll();
  first.app.link.stop();
  node.isDown = true;
  node.answer("b", "two");
  const second = await opened(node, new Clock(NOW), first.store);
  const { rows, status } = second.app.conversation("ann");
  expect([texts(rows.value), status.value]).toEqual([["say a", "one"], "cached"]);
  node.isDown = false;
  await second.clock.advance(5_000);
  expect(node.dials.at(-1)?.resume?.after).toBe(6);
  expect(texts(rows.value)).toEqual(["say a", "one", "say b", "two"]);
});

test("what is said apart from the draft leaves the draft where it is", async () => {
  const { app, store } = await opened(hired());
  app.conversation("ann").draft.value = { text: "half a thought", pictures: [] };
  app.actions.say("ann", "two comments", { apart: true });
  await settled();
  expect(app.conversation("ann").draft.value.text).toBe("half a thought");
  expect((await store.read()).drafts.get("ann")?.text).toBe("half a thought");
});

test("what is said while the node is away is sent once when it is back, and is one row with one key", async () => {
  const node = hired();
  const { app, clock } = await opened(node);
  const { rows } = app.conversation("ann");
  node.isDown = true;
  node.cut();
  await settled();
  const key = app.actions.say("ann", "written in a tunnel");
  await clock.advance(60_000);
  expect(app.outbox.value.map((one) => one.text)).toEqual(["written in a tunnel"]);
  node.isDown = false;
  await clock.advance(60_000);
  expect(node.commands.map((one) => one.text)).toEqual(["written in a tunnel"]);
  expect(rows.value.filter((row) => row.kind === "message").map((row) => [row.key, row.receipt])).toEqual([
    [key, "queued"],
  ]);
  expect(app.outbox.value).toEqual([]);
});

test("a message of which nobody knows whether it arrived is sent again with what was attached to it", async () => {
  const node = hired();
  const attachments = [{ path: "/uploads/1/cat.png", name: "cat.png", media_type: "image/png" }];
  node.hear({ type: "queued", message: "m", text: "what is this?", attachments, by: ME });
  node.hear({ type: "turn_started", message: "m" }, "t");
  node.hear({ type: "doubted", message: "m", why: "a restart" }, "t");
  const { app } = await opened(node);
  const row = app.conversation("ann").rows.value.find((one) => one.kind === "message");
  expect(row).toMatchObject({ receipt: "unknown", attachments });
  app.actions.retry(row?.key ?? "");
  await settled();
  expect(node.commands).toMatchObject([{ type: "say", worker: "ann", text: "what is this?", attachments }]);
});

test("a worker whose last turn failed says so until the next one is done", async () => {
  const node = hired();
  node.answer("a", "one");
  const { app } = await opened(node);
  const failed = () => app.team.value?.[0]?.failed;
  expect(failed()).toBe(false);
  node.hear({ type: "queued", message: "b", text: "say b", by: ME });
  node.hear({ type: "turn_started", message: "b" }, "b");
  node.hear({ type: "turn_ended", how: "failed", error: "no network" }, "b");
  await settled();
  expect([app.team.value?.[0]?.state, failed()]).toEqual(["available", true]);
  node.answer("c", "two");
  await settled();
  expect(failed()).toBe(false);
});

test("a turn that failed is tried again once, by whatever surface", async () => {
  const node = hired();
  node.hear({ type: "queued", message: "b", text: "say b", by: ME });
  node.hear({ type: "turn_started", message: "b" }, "b");
  node.hear({ type: "turn_ended", how: "failed", error: "no network", can_retry: true }, "b");
  const { app } = await opened(node);
  const triable = () => app.team.value?.[0]?.triable;
  expect(triable()).toEqual(["b"]);
  expect(await app.actions.tryAgain("ann", "b")).toEqual({ ok: true });
  expect(node.commands.at(-1)).toMatchObject({ type: "retry", worker: "ann", turn: "b" });
  node.hear({ type: "queued", message: "b~2", text: "say b", by: ME, again: "b" });
  await settled();
  expect(triable()).toEqual([]);
});

test("messages that wait are put into another order by the names that the node has for them", async () => {
  const node = hired();
  node.hear({ type: "queued", message: "web-d1:one", text: "first", by: ME });
  node.hear({ type: "queued", message: "tg:2", text: "second", by: { via: "tg" } });
  const { app } = await opened(node);
  const ids = () => app.team.value?.[0]?.queue.map((one) => one.id) ?? [];
  expect(await app.actions.reorder("ann", [...ids()].reverse())).toEqual({ ok: true });
  expect(node.commands.at(-1)).toMatchObject({ type: "reorder", messages: ["tg:2", "web-d1:one"] });
  const before = ids();
  node.hear({ type: "reordered", messages: ["tg:2", "web-d1:one"], by: ME });
  await settled();
  expect(ids()).toEqual([...before].reverse());
});

test("a device that was revoked keeps nothing of the node, and what was written on it and not sent", async () => {
  const node = hired();
  node.answer("a", "one");
  const { app, store, clock } = await opened(node);
  const { rows, draft } = app.conversation("ann");
  draft.value = { text: "half a thought", pictures: [] };
  await app.keepAll();
  node.isStranger = true;
  node.cut();
  await clock.advance(1_000);
  expect([app.connection.value.link, app.team.value, rows.value]).toEqual(["unpaired", null, []]);
  const kept = await store.read();
  expect([kept.present, kept.cursor, kept.device, kept.logs.size]).toEqual([null, null, null, 0]);
  expect(kept.drafts.get("ann")?.text).toBe("half a thought");
  node.isStranger = false;
  app.dial();
  await settled();
  expect(texts(rows.value)).toEqual(["say a", "one"]);
});

test("what came while a conversation was not looked at is unread, and is read once it is", async () => {
  const node = hired();
  const { app } = await opened(node);
  node.answer("a", "one");
  node.answer("b", "two");
  await settled();
  expect(app.team.value?.[0]?.unread).toBe(2);
  app.actions.look("ann");
  await settled();
  expect(app.team.value?.[0]?.unread).toBe(0);
});

test("an ask that was answered here cannot be tapped again, and is gone once it is settled", async () => {
  const node = hired();
  const { app } = await opened(node);
  node.hear({ type: "turn_started" }, "t");
  node.hear({ type: "ask_raised", ask: "q", question: "May I?", choices: [{ id: "yes", label: "Yes" }] }, "t");
  await settled();
  expect(app.asks.value.map((ask) => [ask.id, ask.answering])).toEqual([["q", false]]);
  app.actions.answer("q", ["yes"]);
  await settled();
  expect(app.asks.value.map((ask) => ask.answering)).toEqual([true]);
  node.hear({ type: "ask_settled", ask: "q", how: "answered", choice: "yes" }, "t");
  await settled();
  expect(app.asks.value).toEqual([]);
});

test("who else is there is told while it is so: another device, and whoever works at the desk", async () => {
  const node = hired();
  const { app, clock } = await opened(node);
  node.now({ presence: [{ device: "d2", name: "iPad", worker: "ann" }] });
  await settled();
  expect(app.here.value).toEqual([{ name: "iPad", worker: "ann" }]);
  const at = Date.now() / 1000;
  node.hear({ type: "queued", message: "m", text: "hi", by: { via: "chat" } }, undefined, at);
  node.hear({ type: "queued", message: "n", text: "hi", by: ME }, undefined, at);
  node.now({ presence: [] });
  await settled();
  expect(app.here.value).toEqual([{ name: "", worker: "ann" }]);
  node.isDown = true;
  node.cut();
  await settled();
  await clock.advance(1);
  expect(app.here.value).toEqual([]);
});

test("whoever worked at the desk is there for two minutes", () => {
  const presence = new Presence();
  const fact: Fact = { type: "turn_started" };
  presence.heard([{ seq: 1, at: 1000, worker: "ann", fact }], 1000);
  expect(presence.here.value).toEqual([{ name: "", worker: "ann" }]);
  presence.look(1000 + DESK_SECONDS - 1);
  expect(presence.here.value).toHaveLength(1);
  presence.look(1000 + DESK_SECONDS);
  expect(presence.here.value).toEqual([]);
});
