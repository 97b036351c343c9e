/** Notifications in the service worker: shows what the node pushed, answers from a button, opens the app where a tap leads. */

export interface PushButton {
  readonly choice: string;
  readonly token: string;
}

/** What a notification carries: where a tap leads, and, for a question, what its buttons answer. */
export interface NotificationData {
  readonly navigate?: string;
  readonly ask?: string;
  readonly digest?: string;
  readonly allow?: PushButton;
  readonly deny?: PushButton;
  readonly settled?: string;
}

export interface Shown {
  readonly title: string;
  readonly options: NotificationOptions;
  readonly badge: number | null;
}

const FALLBACK: Shown = { title: "farhand", options: { tag: "farhand" }, badge: null };
const SHOWN = ["body", "tag", "lang", "icon", "badge", "silent", "renotify", "requireInteraction", "timestamp"];

/** The declarative payload as a browser without that wants it. Something is always shown: a push that shows nothing costs the permission. */
export function readPush(text: string): Shown {
  const message = parse(text);
  const told = message?.notification;
  if (typeof told !== "object" || told === null) {
    return FALLBACK;
  }
  const given = told as Record<string, unknown>;
  const options = Object.fromEntries(SHOWN.flatMap((name) => (name in given ? [[name, given[name]]] : [])));
  const data = typeof given.data === "object" && given.data !== null ? given.data : {};
  const actions = Array.isArray(given.actions) ? given.actions.map(actionOf).slice(0, 2) : [];
  return {
    title: typeof given.title === "string" && given.title !== "" ? given.title : FALLBACK.title,
    options: {
      ...options,
      data: { ...data, navigate: typeof given.navigate === "string" ? given.navigate : "" },
      ...(actions.length ? { actions } : {}),
    } as NotificationOptions,
    badge: typeof message?.app_badge === "number" ? message.app_badge : null,
  };
}

function parse(text: string): { notification?: unknown; app_badge?: unknown } | null {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" ? read : null;
  } catch {
    return null;
  }
}

function actionOf(action: { action?: unknown; title?: unknown }): { action: string; title: string } {
  return { action: String(action.action), title: String(action.title) };
}

/** The address if it is one of the app's own pages; the app's first page for any other. */
export function ownPage(address: string | undefined, origin: string): string {
  try {
    const found = new URL(address ?? "", origin);
    return found.origin === origin && found.pathname.startsWith("/app/") ? found.href : `${origin}/app/`;
  } catch {
    return `${origin}/app/`;
  }
}

/** The request that a button becomes; null where the tap is on the notification itself. */
export function answerOf(action: string, data: NotificationData): string | null {
  const button = action === "allow" ? data.allow : action === "deny" ? data.deny : undefined;
  return button && data.ask
    ? JSON.stringify({ ask: data.ask, digest: data.digest ?? "", choice: button.choice, token: button.token })
    : null;
}
