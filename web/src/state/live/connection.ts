/** How the connection stands for the eye: a short cut is nobody's business, a longer one is told. */

import { signal } from "@preact/signals";
import type { NodeFailure } from "../../wire/http";
import type { Timers } from "../../wire/link";
import type { Connection } from "../types";

/** How long a cut is not told. */
export const GRACE_MILLISECONDS = 4_000;

export class ConnectionView {
  readonly state = signal<Connection>({ link: "starting", lastLive: 0, nextTry: null, why: "" });
  private readonly timers: Timers;
  private cancel: (() => void) | null = null;

  constructor(timers: Timers) {
    this.timers = timers;
    this.told();
  }

  opened(): void {
    this.cancel?.();
    this.cancel = null;
    this.state.value = { link: "live", lastLive: this.now(), nextTry: null, why: "" };
  }

  lost(failure: NodeFailure, pauseMilliseconds: number | null): void {
    if (failure.kind === "stranger") {
      this.unpaired();
      return;
    }
    const before = this.state.value;
    const wasLive = before.link === "live";
    this.state.value = {
      link: wasLive ? "catching-up" : before.link,
      lastLive: wasLive ? this.now() : before.lastLive,
      nextTry: pauseMilliseconds ? this.now() + pauseMilliseconds / 1000 : null,
      why: failure.message,
    };
    this.told();
  }

  unpaired(): void {
    this.cancel?.();
    this.cancel = null;
    this.state.value = { ...this.state.value, link: "unpaired", nextTry: null, why: "" };
  }

  /** A device that was just paired dials for the first time. */
  starting(): void {
    this.state.value = { link: "starting", lastLive: 0, nextTry: null, why: "" };
    this.told();
  }

  private told(): void {
    this.cancel ??= this.timers.after(GRACE_MILLISECONDS, () => {
      this.cancel = null;
      const { link } = this.state.value;
      if (link === "catching-up" || link === "starting") {
        this.state.value = { ...this.state.value, link: "offline" };
      }
    });
  }

  private now(): number {
    return this.timers.now() / 1000;
  }
}
