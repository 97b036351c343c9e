/** The app's own files: kept by the service worker, renewed when the person says so. */

import { signal } from "@preact/signals";

const CHECK_MILLISECONDS = 60 * 60 * 1000;

export class AppUpdates {
  readonly ready = signal(false);
  private waiting: ServiceWorker | null = null;
  private registration: ServiceWorkerRegistration | null = null;
  private asked = false;

  /** Does nothing where there is no service worker: plain http on another machine, or a private window. */
  async start(): Promise<void> {
    if (!("serviceWorker" in navigator)) {
      return;
    }
    try {
      this.registration = await navigator.serviceWorker.register("/app/sw.js", {
        scope: "/app/",
        updateViaCache: "none",
      });
    } catch {
      return;
    }
    navigator.serviceWorker.addEventListener("controllerchange", () => {
      if (this.asked) {
        location.reload();
      }
    });
    this.watch(this.registration);
    setInterval(() => this.check(), CHECK_MILLISECONDS);
  }

  /** Looks whether the node has another version by now. */
  check(): void {
    this.registration?.update().catch(() => undefined);
  }

  take(): void {
    this.asked = true;
    this.waiting?.postMessage("take-over");
  }

  private watch(registration: ServiceWorkerRegistration): void {
    const offer = (worker: ServiceWorker | null) => {
      // The very first one has nothing to replace.
      if (worker !== null && navigator.serviceWorker.controller !== null) {
        this.waiting = worker;
        this.ready.value = true;
      }
    };
    offer(registration.waiting);
    registration.addEventListener("updatefound", () => {
      const coming = registration.installing;
      coming?.addEventListener("statechange", () => {
        if (coming.state === "installed") {
          offer(coming);
        }
      });
    });
  }
}
