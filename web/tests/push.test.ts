/** What the service worker makes of a push: always something to show, only the app's own pages, and buttons that answer one question. */

import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import { LiveApp } from "../src/state/live/app";
import { PhoneDatabase } from "../src/state/live/database";
import { DevicePush } from "../src/state/live/push";
import type { OpenAsk } from "../src/state/types";
import { type Fetch, NodeApi } from "../src/wire/http";
import { answerOf, ownPage, readPush } from "../src/worker/push";
import { Clock, settled } from "./clock";

const ORIGIN = "https://team.example";
const ASK = {
  web_push: 8030,
  notification: {
    title: "ann asks",
    body: "Run: make deploy",
    tag: "ask:a1",
    navigate: `${ORIGIN}/app/#/w/ann!ask%3Aa1`,
    requireInteraction: true,
    data: { ask: "a1", digest: "d1", allow: { choice: "yes", token: "t1" }, deny: { choice: "no", token: "t2" } },
    actions: [
      { action: "allow", title: "Allow once", navigate: `${ORIGIN}/app/` },
      { action: "deny", title: "Deny" },
    ],
    onclick: "alert(1)",
  },
  app_badge: 2,
};

test("a declarative payload is shown as it says, and nothing that it does not know", () => {
  const { title, options, badge } = readPush(JSON.stringify(ASK));
  expect([title, badge]).toEqual(["ann asks", 2]);
  expect(options).toEqual({
    body: "Run: make deploy",
    tag: "ask:a1",
    requireInteraction: true,
    data: { ...ASK.notification.data, navigate: ASK.notification.navigate },
    actions: [
      { action: "allow", title: "Allow once" },
      { action: "deny", title: "Deny" },
    ],
  });
});

test.each(["", "no JSON", "null", "[]", '{"notification":7}', '{"notification":{"title":7,"actions":{}}}'])(
  "something is shown whatever came: %s",
  (text) => {
    expect(readPush(text).title).toBe("farhand");
  },
);

test("a tap leads to the app's own pages alone", () => {
  expect(ownPage(`${ORIGIN}/app/#/w/ann`, ORIGIN)).toBe(`${ORIGIN}/app/#/w/ann`);
  for (const foreign of [
    "https://evil.example/app/",
    "javascript:alert(1)",
    `${ORIGIN}/api/pair`,
    "",
    undefined,
    "//x",
  ]) {
    expect(ownPage(foreign, ORIGIN)).toBe(`${ORIGIN}/app/`);
  }
});

test("a button answers its question as it was shown; a tap beside it answers nothing", () => {
  const { data } = ASK.notification;
  expect(JSON.parse(answerOf("allow", data) ?? "")).toEqual({ ask: "a1", digest: "d1", choice: "yes", token: "t1" });
  expect(JSON.parse(answerOf("deny", data) ?? "")).toMatchObject({ choice: "no", token: "t2" });
  expect(answerOf("", data)).toBeNull();
  expect(answerOf("allow", { ask: "a1" })).toBeNull();
});

test("a question that comes while notifications are looked up keeps its own", async () => {
  const closed: string[] = [];
  const shown = ["ask:a1", "ask:a2"].map((tag) => ({ tag, close: () => void closed.push(tag) }));
  const found: (() => void)[] = [];
  const badges: number[] = [];
  vi.stubGlobal("navigator", {
    setAppBadge: async (count: number) => void badges.push(count),
    clearAppBadge: async () => void badges.push(0),
    serviceWorker: {
      getRegistration: async () => ({
        getNotifications: () => new Promise((done) => found.push(() => done(shown))),
      }),
    },
  });
  const push = new DevicePush(new NodeApi(async () => new Response("")), () => "en", {
    get: () => true,
    set: () => undefined,
  });
  const ask = (id: string) => ({ id }) as OpenAsk;
  const asked = [[ask("a1")], [], [ask("a2")]].map((asks) => push.follow(asks));
  await vi.waitFor(() => expect(found).toHaveLength(3));
  for (const answer of found) {
    answer();
  }
  await Promise.all(asked);
  vi.unstubAllGlobals();
  expect([...new Set(closed)]).toEqual(["ask:a1"]);
  expect(badges).toEqual([1, 0, 1]);
});

test("notifications are not looked up while one is being shown", async () => {
  const { locks } = navigator;
  let looks = 0;
  const getNotifications = async () => {
    looks += 1;
    return [];
  };
  vi.stubGlobal("navigator", { locks, serviceWorker: { getRegistration: async () => ({ getNotifications }) } });
  const push = new DevicePush(new NodeApi(async () => new Response("")), () => "en", {
    get: () => true,
    set: () => undefined,
  });
  let followed = Promise.resolve();
  await locks.request("farhand-notifications", async () => {
    followed = push.follow([]);
    await vi.waitFor(async () => expect((await locks.query()).pending).toHaveLength(1));
    expect(looks).toBe(0);
  });
  await followed;
  vi.unstubAllGlobals();
  expect(looks).toBe(1);
});

/** A browser that permits notifications, and whose subscription outlives a restart of the app. */
function permitting(): { subscribed: () => boolean; fetch: Fetch } {
  let own: object | null = null;
  const pushManager = {
    getSubscription: async () => own,
    subscribe: async () => {
      own = {
        options: { applicationServerKey: new ArrayBuffer(0) },
        toJSON: () => ({ endpoint: "https://push.example/1" }),
        unsubscribe: async () => {
          own = null;
          return true;
        },
      };
      return own;
    },
  };
  const serviceWorker = { ready: Promise.resolve({ pushManager }), getRegistration: async () => ({ pushManager }) };
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("window", { PushManager: {}, Notification: {} });
  vi.stubGlobal("location", { origin: ORIGIN });
  vi.stubGlobal("navigator", { serviceWorker });
  vi.stubGlobal("Notification", { permission: "granted", requestPermission: async () => "granted" });
  let told = false;
  const fetch: Fetch = async (_address, options) => {
    if (options?.method === "POST") told = true;
    if (options?.method === "DELETE") told = false;
    return Response.json({ key: "", subscribed: told, problem: "" });
  };
  return { subscribed: () => own !== null && told, fetch };
}

test("what is switched off on this device stays off over starts of the app, and on stays on", async () => {
  const browser = permitting();
  const database = await PhoneDatabase.open(crypto.randomUUID());
  const started = async () => {
    const app = new LiveApp(await database.read(), {
      fetch: browser.fetch,
      connect: null,
      timers: new Clock(),
      onFrame: (call) => void setImmediate(call),
      isVisible: () => true,
      database,
    });
    await app.push.renew();
    return app;
  };
  const first = await started();
  expect(await first.actions.pushOn()).toEqual({ ok: true });
  expect(browser.subscribed()).toBe(true);
  const second = await started();
  expect((await second.actions.push()).on).toBe(true);
  expect(await second.actions.pushOff()).toEqual({ ok: true });
  await settled();
  const third = await started();
  expect([browser.subscribed(), (await third.actions.push()).on]).toEqual([false, false]);
  expect(await third.actions.pushOn()).toEqual({ ok: true });
  await settled();
  await started();
  expect(browser.subscribed()).toBe(true);
  vi.unstubAllGlobals();
});
