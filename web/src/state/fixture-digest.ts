/** What happened while nobody was there, for the fixture. */

import type { DigestLine } from "./types";

export const AWAY: readonly DigestLine[] = [
  { kind: "ask", key: "ask:a1", at: 0, worker: "ann", text: "Run: npm publish --access public" },
  { kind: "failed", key: "turn:max:t8", at: 0, worker: "max", text: "the tests of the ingestor do not build" },
  { kind: "sprint", key: "sprint:s1", at: 0, worker: "kim", text: "Every task is done." },
  { kind: "finished", key: "turn:ann:t9", at: 0, worker: "ann", count: 7, text: "The race is fixed." },
  { kind: "limit", key: "limit:9", at: 0, worker: "leo", text: "", more: 2 },
];
