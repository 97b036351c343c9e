/** A worker's own terminal over the node's API: server-sent events with what it writes, posts with what is typed. */

import { eventsOf } from "../../wire/events";
import { type Fetch, failureOf, NodeFailure } from "../../wire/http";
import type { Outcome, PaneInput, PanePiece } from "../types";

interface PaneFrame {
  readonly now?: {
    readonly pane?: {
      readonly data: string;
      readonly columns?: number;
      readonly rows?: number;
      readonly reset?: boolean;
    };
  };
}

function addressOf(worker: string, what: "pane" | "keys"): string {
  return `/api/workers/${encodeURIComponent(worker)}/${what}`;
}

/** Hands over what the terminal writes until the returned function is called, or the terminal is gone. */
export function watchPane(
  fetch: Fetch,
  worker: string,
  piece: (piece: PanePiece) => void,
  end: (why: string) => void,
): () => void {
  const stop = new AbortController();
  const watch = async () => {
    const answer = await fetch(addressOf(worker, "pane"), { credentials: "same-origin", signal: stop.signal });
    if (!answer.ok || answer.body === null) throw await failureOf(answer);
    for await (const text of eventsOf(answer.body)) {
      const pane = (JSON.parse(text) as PaneFrame).now?.pane;
      if (pane) piece(read(pane));
    }
  };
  watch().then(
    () => stop.signal.aborted || end(""),
    (error: unknown) => stop.signal.aborted || end(error instanceof NodeFailure ? error.message : ""),
  );
  return () => stop.abort();
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
    return { ok: false, why: "The node did not answer." };
  }
}

function read(pane: { data: string; columns?: number; rows?: number; reset?: boolean }): PanePiece {
  const bytes = Uint8Array.from(atob(pane.data), (one) => one.charCodeAt(0));
  return { bytes, columns: pane.columns ?? 0, rows: pane.rows ?? 0, reset: pane.reset ?? false };
}
