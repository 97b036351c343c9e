/** Opens the live wire: over a WebSocket, and where none can be had by a POST whose answer are server-sent events. */

import { t } from "../texts";
import { eventsOf } from "./events";
import { type Fetch, failureOf, NodeFailure } from "./http";
import type { Timers } from "./link";
import type { Looking, Opening, ServerFrame } from "./types";

/** Frames in order; ends when the connection does. Throws NodeFailure when there is none. */
export type Dial = (opening: Opening, signal: AbortSignal) => AsyncIterable<ServerFrame>;

/** How long a WebSocket has to open before the other way is tried. */
const OPEN_MILLISECONDS = 3_000;
/** After so many WebSockets in a row that failed where a POST did not, something between the two lets none through. */
const MOST_FAILURES = 2;

export class WireDialler {
  private readonly fetch: Fetch;
  private readonly connect: (() => WebSocket) | null;
  private readonly timers: Timers;
  private socket: WebSocket | null = null;
  private failures = 0;

  constructor(fetch: Fetch, connect: (() => WebSocket) | null, timers: Timers) {
    this.fetch = fetch;
    this.connect = connect;
    this.timers = timers;
  }

  readonly dial: Dial = (opening, signal) => this.frames(opening, signal);

  /** Tells the node what is looked at; it does not matter when it does not arrive. */
  tell(view: Looking): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ view }));
    } else {
      const body = JSON.stringify(view);
      const headers = { "Content-Type": "application/json" };
      this.fetch("/api/hub/view", { method: "POST", body, headers, keepalive: true }).catch(() => undefined);
    }
  }

  private async *frames(opening: Opening, signal: AbortSignal): AsyncGenerator<ServerFrame> {
    if (this.connect !== null && this.failures < MOST_FAILURES) {
      let heard = false;
      try {
        for await (const frame of this.overSocket(this.connect(), opening, signal)) {
          heard = true;
          this.failures = 0;
          yield frame;
        }
      } catch (error) {
        if (heard || signal.aborted) {
          throw error;
        }
      }
      if (heard || signal.aborted) {
        return;
      }
    }
    // A browser does not tell why a WebSocket was refused; the answer to a POST does.
    let heard = false;
    for await (const frame of this.overHttp(opening, signal)) {
      this.failures += heard ? 0 : 1;
      heard = true;
      yield frame;
    }
  }

  private async *overHttp(opening: Opening, signal: AbortSignal): AsyncGenerator<ServerFrame> {
    const answer = await posted(this.fetch, opening, signal);
    if (!answer.ok || answer.body === null) {
      throw await failureOf(answer);
    }
    for await (const data of eventsOf(answer.body)) {
      yield JSON.parse(data) as ServerFrame;
    }
  }

  private async *overSocket(socket: WebSocket, opening: Opening, signal: AbortSignal): AsyncGenerator<ServerFrame> {
    const waiting: ServerFrame[] = [];
    let wake: () => void = () => undefined;
    let ended = false;
    const end = () => {
      ended = true;
      wake();
    };
    const cancel = this.timers.after(OPEN_MILLISECONDS, () => {
      if (socket.readyState === WebSocket.CONNECTING) {
        end();
      }
    });
    socket.onopen = () => socket.send(JSON.stringify(opening));
    socket.onmessage = ({ data }) => {
      waiting.push(JSON.parse(String(data)) as ServerFrame);
      wake();
    };
    socket.onclose = end;
    socket.onerror = end;
    signal.addEventListener("abort", end, { once: true });
    this.socket = socket;
    try {
      for (;;) {
        yield* waiting.splice(0);
        if (ended && waiting.length === 0) {
          return;
        }
        if (waiting.length === 0) {
          await new Promise<void>((done) => {
            wake = done;
          });
        }
      }
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
      socket.close();
      this.socket = null;
    }
  }
}

async function posted(fetch: Fetch, opening: Opening, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch("/api/hub/stream", {
      method: "POST",
      body: JSON.stringify(opening),
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      cache: "no-store",
      credentials: "same-origin",
      signal,
    });
  } catch {
    throw new NodeFailure("unreachable", t("nodeSilent"));
  }
}
