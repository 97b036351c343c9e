/** What is typed, set or sent in the moment before a page is left is there at the next start, once, and forgotten when told. */

import "fake-indexeddb/auto";
import { expect, test } from "vitest";
import { Conversations } from "../src/state/live/conversations";
import { type Parcel, PhoneDatabase } from "../src/state/live/database";
import { LastWords, type WordStore } from "../src/state/live/last-words";

/** The browser's own store, and a full one. */
class Store implements WordStore {
  readonly words = new Map<string, string>();
  isFull = false;

  get length(): number {
    return this.words.size;
  }
  key = (place: number): string | null => [...this.words.keys()][place] ?? null;
  getItem = (name: string): string | null => this.words.get(name) ?? null;
  removeItem = (name: string): void => void this.words.delete(name);
  setItem = (name: string, value: string): void => {
    if (this.isFull) throw new DOMException("full", "QuotaExceededError");
    this.words.set(name, value);
  };
}

function say(id: string, text: string): Parcel {
  const command = { type: "say" as const, id, worker: "ann", text };
  return { id, worker: "ann", command, at: 1, state: "waiting", why: "", message: "", via: "", pictures: [] };
}

/** A page that was left: its store, as it was at that moment, and a database that never heard of it. */
async function nextStart(store: Store) {
  const left = new Store();
  for (const [name, value] of store.words) left.words.set(name, value);
  const database = await PhoneDatabase.open(crypto.randomUUID(), new LastWords(left));
  return { kept: await database.read(), database, left };
}

async function thisPage(store = new Store()) {
  return { store, database: await PhoneDatabase.open(crypto.randomUUID(), new LastWords(store)) };
}

test("a page that is left before the database has written keeps settings, drafts and messages", async () => {
  const { store, database } = await thisPage();
  const conversations = new Conversations(new Map(), database, () => []);
  const { draft } = conversations.get("ann").conversation;
  const writing = [database.keepSettings({ toured: true }), database.send(say("1", "sent"), "bob")];
  draft.value = { text: "half", pictures: [] };
  draft.value = { text: "half a thought", pictures: [] };
  const { kept, database: next, left } = await nextStart(store);
  expect(kept.settings).toEqual({ toured: true });
  expect(kept.drafts.get("ann")?.text).toBe("half a thought");
  expect(kept.outbox.map((one) => one.id)).toEqual(["1"]);
  // The next start writes them down; then they are there once.
  await next.keepRead("ann", 1);
  await expect.poll(() => left.words.size).toBe(0);
  const again = await next.read();
  expect([again.settings, again.drafts.get("ann")?.text, again.outbox.length]).toEqual([
    { toured: true },
    "half a thought",
    1,
  ]);
  await Promise.all([...writing, conversations.saveDrafts()]);
  expect(store.words.size).toBe(0);
});

test("a message that was sent in the last moment takes its draft with it", async () => {
  const { store, database } = await thisPage();
  await database.keepDraft("ann", { text: "hello", pictures: [] });
  const sending = database.send(say("1", "hello"), "ann");
  const left = new Store();
  for (const [name, value] of store.words) left.words.set(name, value);
  await sending;
  const other = await PhoneDatabase.open(crypto.randomUUID(), new LastWords(left));
  await other.keepDraft("bob", { text: "another", pictures: [] });
  const kept = await other.read();
  expect([[...kept.drafts.keys()], kept.outbox.map((one) => one.id)]).toEqual([["bob"], ["1"]]);
});

test("a full or broken store keeps no older word in the place of a newer one, and breaks nothing", async () => {
  const { store, database } = await thisPage();
  database.noteDraft("ann", { text: "older", pictures: [] });
  store.isFull = true;
  await database.keepDraft("ann", { text: "newer", pictures: [] });
  expect((await database.read()).drafts.get("ann")?.text).toBe("newer");
  for (const name of ["last:settings", "last:draft:ann", "last:send:1"]) store.words.set(name, "{broken");
  expect((await database.read()).drafts.get("ann")?.text).toBe("newer");
  for (const name of ["last:settings", "last:draft:ann", "last:send:1"]) store.words.set(name, '"a text"');
  expect((await database.read()).drafts.get("ann")?.text).toBe("newer");
});

test("of two windows the one that wrote last is believed, and the other takes nothing away from it", async () => {
  const { store, database } = await thisPage();
  const other = new LastWords(store);
  const keeping = database.keepDraft("ann", { text: "from one window", pictures: [] });
  other.draft("ann", { text: "from the other", pictures: [] });
  await keeping;
  expect((await database.read()).drafts.get("ann")?.text).toBe("from the other");
});

test("who is put out keeps nothing that quotes the node, and who leaves keeps the settings alone", async () => {
  const { store, database } = await thisPage();
  store.words.set("comments:ann", "[]");
  database.noteDraft("ann", { text: "mine", pictures: [] });
  new LastWords(store).settings({ theme: "light" });
  await database.forgetNode();
  expect([...store.words.keys()].sort()).toEqual(["last:draft:ann", "last:settings"]);
  store.words.set("comments:ann", "[]");
  await database.forget();
  expect([...store.words.keys()]).toEqual(["last:settings"]);
});
