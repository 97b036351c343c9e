/** What happened while nobody was there, for the fixture. */

import type { DigestLine } from "./types";

export const AWAY: readonly DigestLine[] = [
  { kind: "ask", key: "ask:a1", at: 0, worker: "ann", text: "Run: git push origin main" },
  { kind: "failed", key: "turn:cora:t8", at: 0, worker: "cora", text: "The agent exited with code 137." },
  { kind: "sprint", key: "sprint:s1", at: 0, worker: "otto", text: "Every task is done." },
  { kind: "finished", key: "turn:ann:t9", at: 0, worker: "ann", count: 7, text: "The race is fixed." },
  { kind: "limit", key: "limit:9", at: 0, worker: "zoe", text: "", more: 2 },
];
