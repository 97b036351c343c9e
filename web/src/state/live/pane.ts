/** A worker's own terminal over the node's API: server-sent events with what it writes, posts with what is typed. */

import { t } from "../../texts";
import type { Dial } from "../../wire/dial";
import { eventsOf } from "../../wire/events";
import { type Fetch, failureOf, NodeFailure } from "../../wire/http";
import { Link, type Timers } from "../../wire/link";
import type * as wire from "../../wire/types";
import type { Outcome, PaneInput, PanePiece, PaneWatcher } from "../types";

function addressOf(worker: string, what: "pane" | "keys"): string {
  return `/api/workers/${encodeURIComponent(worker)}/${what}`;
}

/** Hands over what the terminal writes until it is stopped: cut off, it dials again as the app's own connection does. */
export function paneLink(fetch: Fetch, timers: Timers, worker: string, watcher: PaneWatcher): Link {
  return new Link(
    paneDial(fetch, worker),
    {
      opening: () => ({}),
      frame: async (frame) => {
        const pane = "now" in frame ? frame.now.pane : null;
        if (pane) watcher.piece(read(pane));
      },
      opened: () => watcher.live(),
      lost: (failure, pause) => {
        // The first two attempts are made at once, and nobody needs to hear of them.
        if (failure.kind !== "unreachable") watcher.lost(failure.message);
        else if (pause) watcher.lost("");
      },
    },
    timers,
  );
}

/** Some tunnels hold a GET stream back until it ends; a POST passes. */
function paneDial(fetch: Fetch, worker: string): Dial {
  return async function* (_opening, signal) {
    const answer = await asked(fetch, worker, signal);
    if (!answer.ok || answer.body === null) throw await failureOf(answer);
    for await (const text of eventsOf(answer.body)) yield JSON.parse(text) as wire.ServerFrame;
  };
}

async function asked(fetch: Fetch, worker: string, signal: AbortSignal): Promise<Response> {
  try {
    const headers = { Accept: "text/event-stream" };
    const options: RequestInit = { method: "POST", headers, cache: "no-store", credentials: "same-origin", signal };
    return await fetch(addressOf(worker, "pane"), options);
  } catch {
    throw new NodeFailure("unreachable", t("nodeSilent"));
  }
}

/** Types; it is not tried again by itself, for nobody can tell whether it arrived. */
export async function typeInto(fetch: Fetch, worker: string, input: PaneInput): Promise<Outcome> {
  try {
    const answer = await fetch(addressOf(worker, "keys"), {
      method: "POST",
      body: JSON.stringify(input),
      headers: { "Content-Type": "application/json" },
      credentials: "same-origin",
    });
    return answer.ok ? { ok: true } : { ok: false, why: (await failureOf(answer)).message };
  } catch {
    return { ok: false, why: t("nodeSilent") };
  }
}

function read(pane: wire.PanePiece): PanePiece {
  const bytes = Uint8Array.from(atob(pane.data), (one) => one.charCodeAt(0));
  return { bytes, columns: pane.columns ?? 0, rows: pane.rows ?? 0, reset: pane.reset ?? false };
}
