/** Notifications of this device: whether they can be, switched on and off, tried, renewed at every start; the badge of the app. */

import { type NodeApi, NodeFailure } from "../../wire/http";
import type { OpenAsk, Outcome, PushState, PushTest } from "../types";

const CLOSED = "ask:";
/** The lock of `worker/notification-lock.ts`, which the service worker, one file, cannot share with a window. */
const NOTIFICATIONS = "farhand-notifications";

interface PushReply {
  readonly key: string;
  readonly subscribed: boolean;
  readonly problem: string;
}

interface Badges {
  setAppBadge?(count: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

/** Whether the person wants to be reached on this device, as it was last said here. */
export interface PushWish {
  get(): boolean;
  set(on: boolean): void;
}

export class DevicePush {
  private readonly api: NodeApi;
  private readonly language: () => string;
  private readonly wish: PushWish;
  private badge = -1;
  /** Questions that were open here once: a push may be quicker than the wire, and its question is no old one. */
  private readonly known = new Set<string>();
  /** Those that wait now: what is looked up takes a while, and a question may come meanwhile. */
  private open: ReadonlySet<string> = new Set();

  constructor(api: NodeApi, language: () => string, wish: PushWish) {
    this.api = api;
    this.language = language;
    this.wish = wish;
  }

  /** How it stands: what the browser can, what the person allowed, what the node says. */
  async state(): Promise<PushState> {
    const support = this.support();
    if (support !== "ready") return { support, on: false, problem: "" };
    const [node, own] = await Promise.all([this.api.get<PushReply>("/api/push"), this.subscription()]);
    return { support, on: node.subscribed && own !== null, problem: node.problem };
  }

  /** From a tap: phones ask for the permission then and only then. */
  async switchOn(): Promise<Outcome> {
    if ((await Notification.requestPermission()) !== "granted") return { ok: false, why: "denied" };
    this.wish.set(true);
    try {
      await this.subscribe();
      return { ok: true };
    } catch (error) {
      return { ok: false, why: error instanceof Error ? error.message : String(error) };
    }
  }

  async switchOff(): Promise<Outcome> {
    this.wish.set(false);
    try {
      await (await this.subscription())?.unsubscribe();
      await this.api.delete("/api/push");
      return { ok: true };
    } catch (error) {
      return { ok: false, why: error instanceof Error ? error.message : String(error) };
    }
  }

  async test(): Promise<PushTest> {
    try {
      return (await this.api.post<{ test: PushTest }>("/api/push/test", {})).test;
    } catch (error) {
      return { ok: false, text: error instanceof NodeFailure ? error.message : String(error) };
    }
  }

  /** At every start: a subscription may have been lost or renewed while the app was away; what was switched off stays off. */
  async renew(): Promise<void> {
    if (this.wish.get() && this.support() === "ready" && Notification.permission === "granted") {
      await this.subscribe().catch(() => undefined);
    }
  }

  private async subscribe(): Promise<void> {
    const { key } = await this.api.get<PushReply>("/api/push");
    const manager = (await navigator.serviceWorker.ready).pushManager;
    const wanted = bytesOf(key);
    let own = await manager.getSubscription();
    // Made for another node's key, it would be refused.
    if (own !== null && !sameBytes(own.options.applicationServerKey, wanted)) {
      await own.unsubscribe();
      own = null;
    }
    own ??= await manager.subscribe({ userVisibleOnly: true, applicationServerKey: wanted });
    await this.api.post("/api/push", { ...own.toJSON(), origin: location.origin, language: this.language() });
  }

  private async subscription(): Promise<PushSubscription | null> {
    const registration = await navigator.serviceWorker.getRegistration("/app/");
    return (await registration?.pushManager.getSubscription()) ?? null;
  }

  private support(): PushState["support"] {
    if (!isSecureContext) return "insecure";
    const able = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
    if (!able) return isPhoneOfApple() && !isInstalled() ? "install" : "unsupported";
    return Notification.permission === "denied" ? "denied" : "ready";
  }

  /** The badge says how many questions wait; notifications of questions that are over are closed. */
  async follow(asks: readonly OpenAsk[]): Promise<void> {
    const badges = navigator as unknown as Badges;
    this.open = new Set(asks.map((ask) => `${CLOSED}${ask.id}`));
    for (const tag of this.open) this.known.add(tag);
    if (this.badge !== asks.length) {
      this.badge = asks.length;
      await (asks.length ? badges.setAppBadge?.(asks.length) : badges.clearAppBadge?.())?.catch(() => undefined);
    }
    const registration = await navigator.serviceWorker?.getRegistration("/app/").catch(() => undefined);
    const look = async () => (await registration?.getNotifications?.().catch(() => [])) ?? [];
    const locks = (navigator as { readonly locks?: LockManager }).locks;
    for (const one of await (locks ? locks.request(NOTIFICATIONS, look) : look())) {
      if (this.known.has(one.tag) && !this.open.has(one.tag)) one.close();
    }
  }
}

/** On an iPhone a tap on a notification tells a living app nothing: it shows what waits by itself. */
export function isPhoneOfApple(): boolean {
  return "standalone" in navigator;
}

function isInstalled(): boolean {
  return (navigator as unknown as { standalone?: boolean }).standalone === true;
}

function bytesOf(key: string): Uint8Array<ArrayBuffer> {
  const text = atob(
    key
      .replaceAll("-", "+")
      .replaceAll("_", "/")
      .padEnd(Math.ceil(key.length / 4) * 4, "="),
  );
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function sameBytes(one: ArrayBuffer | null, other: Uint8Array): boolean {
  const bytes = new Uint8Array(one ?? new ArrayBuffer(0));
  return bytes.length === other.length && bytes.every((byte, place) => byte === other[place]);
}
