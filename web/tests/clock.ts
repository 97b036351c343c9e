/** Time for the tests of the connection: it passes only when a test moves it on. */

import type { Timers } from "../src/wire/link";

/** A clock that a test moves. */
export class Clock implements Timers {
  time: number;
  private waiting: { at: number; call: () => void }[] = [];

  constructor(time = 0) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  after(milliseconds: number, call: () => void): () => void {
    const one = { at: this.time + milliseconds, call };
    this.waiting.push(one);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== one);
    };
  }

  async advance(milliseconds: number): Promise<void> {
    const until = this.time + milliseconds;
    for (;;) {
      const next = this.waiting.filter((one) => one.at <= until).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) {
        break;
      }
      this.waiting = this.waiting.filter((one) => one !== next);
      this.time = Math.max(this.time, next.at);
      next.call();
      await settled();
    }
    this.time = until;
    await settled();
  }
}

/** Until nothing more happens by itself. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((done) => setImmediate(done));
  }
}
