/** Opens the live wire: the opening is posted, frames come back as server-sent events for as long as the connection holds. */

import { eventsOf } from "./events";
import { type Fetch, failureOf, NodeFailure } from "./http";
import type { Opening, ServerFrame } from "./types";

/** Frames in order; ends when the connection does. Throws NodeFailure when there is none. */
export type Dial = (opening: Opening, signal: AbortSignal) => AsyncIterable<ServerFrame>;

export function dialEvents(fetch: Fetch): Dial {
  return async function* dial(opening, signal) {
    const answer = await posted(fetch, opening, signal);
    if (!answer.ok || answer.body === null) {
      throw await failureOf(answer);
    }
    for await (const data of eventsOf(answer.body)) {
      yield JSON.parse(data) as ServerFrame;
    }
  };
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
    throw new NodeFailure("unreachable", "The node did not answer.");
  }
}
