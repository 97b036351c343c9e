/** Keeps the app's own files, so that it opens without a network. Data never passes here; a new version waits until it is asked for. */

import { listenToPush } from "./push-events";

declare const self: ServiceWorkerGlobalScope;

// The build writes both: a digest of all files, and their addresses.
const VERSION: string = "__VERSION__";
const SHELL: readonly string[] = JSON.parse("__SHELL__") as string[];
const CACHE = `farhand-${VERSION}`;
const SCOPE = "/app/";

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(CACHE).then((cache) => cache.addAll(SHELL.map((path) => new Request(path, { cache: "reload" })))),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => names.filter((name) => name.startsWith("farhand-") && name !== CACHE))
      .then((old) => Promise.all(old.map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("message", (event) => {
  if (event.data === "take-over") {
    void self.skipWaiting();
  }
});

listenToPush();

self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  if (
    event.request.method !== "GET" ||
    address.origin !== self.location.origin ||
    !address.pathname.startsWith(SCOPE)
  ) {
    return;
  }
  event.respondWith(event.request.mode === "navigate" ? page() : file(event.request));
});

/** Every screen is the one page. */
async function page(): Promise<Response> {
  return (await caches.match(SCOPE)) ?? fetch(SCOPE);
}

async function file(request: Request): Promise<Response> {
  const kept = await caches.match(request);
  if (kept !== undefined) {
    return kept;
  }
  const answer = await fetch(request);
  // A hashed name never means another file.
  if (answer.ok && new URL(request.url).pathname.startsWith(`${SCOPE}assets/`)) {
    const cache = await caches.open(CACHE);
    await cache.put(request, answer.clone());
  }
  return answer;
}
