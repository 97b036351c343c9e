/** Who else is there right now: other devices as the node tells, and whoever worked at the desk a moment ago. */

import { signal } from "@preact/signals";
import type * as wire from "../../wire/types";
import type { Somebody } from "../types";

/** Whoever worked at the desk is there for so long; as the node counts it. */
export const DESK_SECONDS = 120;
const AT_THE_DESK = new Set(["chat", "cli", "tui"]);

export class Presence {
  readonly here = signal<readonly Somebody[]>([]);
  private devices: readonly wire.DevicePresence[] = [];
  private desk = new Map<string, number>();

  /** What the node says of other devices: all of them each time. */
  told(devices: readonly wire.DevicePresence[], now: number): void {
    this.devices = devices;
    this.look(now);
  }

  heard(events: readonly wire.Event[], now: number): void {
    for (const event of events) {
      if (isAtTheDesk(event.fact)) {
        this.desk.set(event.worker, event.at);
      }
    }
    this.look(now);
  }

  /** Without a connection nobody knows who is there. */
  lost(): void {
    this.devices = [];
    this.desk.clear();
    this.here.value = [];
  }

  look(now: number): void {
    const desk = [...this.desk].filter(([, at]) => now - at < DESK_SECONDS);
    const here = [
      ...this.devices.map((one) => ({ name: one.name || one.device, worker: one.worker ?? "" })),
      ...desk.map(([worker]) => ({ name: "", worker })),
    ];
    if (JSON.stringify(here) !== JSON.stringify(this.here.peek())) {
      this.here.value = here;
    }
  }
}

/** Whether a person did this at the node's own machine. */
function isAtTheDesk(fact: wire.Fact): boolean {
  switch (fact.type) {
    case "queued":
    case "interrupt_asked":
      return AT_THE_DESK.has(fact.by?.via ?? "");
    case "turn_started":
      return !fact.message;
    case "ask_settled":
      return fact.how === "desk" || AT_THE_DESK.has(fact.by?.via ?? "");
    default:
      return false;
  }
}
