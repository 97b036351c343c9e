/** What the service worker does at a push, at a tap on its notification, and when a subscription is renewed. */

import { withNotifications } from "./notification-lock";
import { answerOf, type NotificationData, ownPage, readPush } from "./push";

declare const self: ServiceWorkerGlobalScope;

const JSON_HEADERS = { "Content-Type": "application/json" };

interface Badges {
  setAppBadge?(count: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

interface SubscriptionChange extends ExtendableEvent {
  readonly oldSubscription?: PushSubscription | null;
  readonly newSubscription?: PushSubscription | null;
}

export function listenToPush(): void {
  self.addEventListener("push", (event) => event.waitUntil(show(event.data?.text() ?? "")));
  self.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(tapped(event.action, (event.notification.data ?? {}) as NotificationData));
  });
  self.addEventListener("pushsubscriptionchange", (event) => {
    const change = event as SubscriptionChange;
    change.waitUntil(renew(change));
  });
}

async function show(text: string): Promise<void> {
  const { title, options, badge } = readPush(text);
  await withNotifications(() => self.registration.showNotification(title, options));
  if (badge !== null) await setBadge(badge);
  const { settled } = (options.data ?? {}) as NotificationData;
  // Somebody who looks needs no word that a question is over.
  if (settled && (await windows()).some((one) => one.visibilityState === "visible")) {
    const over = () => self.registration.getNotifications({ tag: options.tag ?? "" });
    for (const one of await withNotifications(over)) one.close();
  }
}

async function setBadge(count: number): Promise<void> {
  const badges = self.navigator as unknown as Badges;
  await (count > 0 ? badges.setAppBadge?.(count) : badges.clearAppBadge?.())?.catch(() => undefined);
}

async function tapped(action: string, data: NotificationData): Promise<void> {
  const answer = answerOf(action, data);
  if (answer !== null && (await post("/api/push/answer", answer))) return;
  await open(ownPage(data.navigate, self.location.origin));
}

async function post(path: string, body: string): Promise<boolean> {
  try {
    const options = { method: "POST", body, headers: JSON_HEADERS, credentials: "same-origin", cache: "no-store" };
    return (await fetch(path, options as RequestInit)).ok;
  } catch {
    return false;
  }
}

async function windows(): Promise<readonly WindowClient[]> {
  return self.clients.matchAll({ type: "window", includeUncontrolled: true });
}

/** The app where it is open already, and in a window of its own where it is not. */
async function open(address: string): Promise<void> {
  const [app] = (await windows()).filter((one) => new URL(one.url).pathname.startsWith("/app/"));
  if (app === undefined) {
    await self.clients.openWindow(address);
    return;
  }
  // Some phones refuse the focus; the app shows the right page all the same.
  await app.focus().catch(() => undefined);
  app.postMessage({ open: address });
}

async function renew(change: SubscriptionChange): Promise<void> {
  const options = change.oldSubscription?.options;
  const renewed =
    change.newSubscription ??
    (options ? await self.registration.pushManager.subscribe(options).catch(() => null) : null);
  if (renewed) {
    await post("/api/push", JSON.stringify({ ...renewed.toJSON(), origin: self.location.origin }));
  }
}
