/** Keeps one connection to the node open: redials at once, then ever more slowly, and whenever the phone wakes up. */

import type { Dial } from "./dial";
import { NodeFailure } from "./http";
import type { Opening, ServerFrame } from "./types";

const FIRST_FRAME_MILLISECONDS = 8_000;
// The node sends a heartbeat every 20 s.
const SILENCE_MILLISECONDS = 45_000;
const FIRST_PAUSE_MILLISECONDS = 1_000;
const LONGEST_PAUSE_MILLISECONDS = 30_000;
// A phone that wakes up says so several times.
const SETTLE_MILLISECONDS = 750;

export interface LinkEvents {
  /** What the next connection opens with. */
  opening(): Opening;
  frame(frame: ServerFrame): Promise<void>;
  /** The first frame of a connection came, and was taken in. */
  opened(): void;
  /** The connection is gone, and when the next attempt is made (null: at once). */
  lost(failure: NodeFailure, pauseMilliseconds: number | null): void;
}

export interface Timers {
  now(): number;
  /** Calls back after that time, unless the function that it returns is called before. */
  after(milliseconds: number, call: () => void): () => void;
}

/** How long to wait before an attempt, by how many failed before it: none before the first two. */
export function pauseBefore(failures: number): number {
  return failures < 2 ? 0 : Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** (failures - 2), LONGEST_PAUSE_MILLISECONDS);
}

export class Link {
  private readonly dial: Dial;
  private readonly events: LinkEvents;
  private readonly timers: Timers;
  private current = new AbortController();
  private endPause: () => void = () => undefined;
  private failures = 0;
  private wokenAt = Number.NEGATIVE_INFINITY;
  private stopped = false;
  private isRunning = false;

  constructor(dial: Dial, events: LinkEvents, timers: Timers) {
    this.dial = dial;
    this.events = events;
    this.timers = timers;
  }

  /** Runs until it is stopped, or until the node does not know this device. */
  async run(): Promise<void> {
    this.stopped = false;
    if (!this.isRunning) {
      this.isRunning = true;
      await this.connections().finally(() => {
        this.isRunning = false;
      });
    }
  }

  private async connections(): Promise<void> {
    while (!this.stopped) {
      const failure = await this.connection();
      if (this.stopped || failure.kind === "stranger") {
        this.events.lost(failure, null);
        return;
      }
      this.failures += 1;
      const wait = pauseBefore(this.failures);
      this.events.lost(failure, wait);
      await this.paused(wait);
    }
  }

  /** The phone woke up, the network came back, or somebody wants it: whatever the old connection says of itself, dial anew. */
  wake(): void {
    const now = this.timers.now();
    if (now - this.wokenAt < SETTLE_MILLISECONDS) {
      return;
    }
    this.wokenAt = now;
    this.failures = 0;
    this.endPause();
    this.current.abort();
  }

  stop(): void {
    this.stopped = true;
    this.endPause();
    this.current.abort();
  }

  private paused(milliseconds: number): Promise<void> {
    return new Promise((done) => {
      const cancel = this.timers.after(milliseconds, done);
      this.endPause = () => {
        cancel();
        done();
      };
    });
  }

  /** One connection, from the dial to its end; why it ended. */
  private async connection(): Promise<NodeFailure> {
    const control = new AbortController();
    this.current = control;
    let cancel = this.timers.after(FIRST_FRAME_MILLISECONDS, () => control.abort());
    let isFirst = true;
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      for await (const frame of this.dial(this.events.opening(), control.signal)) {
        cancel();
        if (control.signal.aborted) {
          break;
        }
        await this.events.frame(frame);
        if (isFirst) {
          isFirst = false;
          openedAt = this.timers.now();
          this.events.opened();
        }
        cancel = this.timers.after(SILENCE_MILLISECONDS, () => control.abort());
      }
      return new NodeFailure("unreachable", "The connection to the node ended.");
    } catch (error) {
      return error instanceof NodeFailure
        ? error
        : new NodeFailure("unreachable", "The connection to the node was cut.");
    } finally {
      cancel();
      control.abort();
      // One that ends as soon as it is open is as good as none: it must not be dialled without a pause.
      if (this.timers.now() - openedAt >= FIRST_PAUSE_MILLISECONDS) {
        this.failures = 0;
      }
    }
  }
}

/** Timers of the browser. */
export const browserTimers: Timers = {
  now: () => Date.now(),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
};
