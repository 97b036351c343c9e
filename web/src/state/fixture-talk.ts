/** What was said on a busy afternoon: the conversations that the fixture shows. */

import type { AskedInTurn, MessageRow, Row, TurnRow } from "./types";

const ANSWER = `The race is gone. **cart.load()** now takes the lock before it reads, and the second read is dropped:

\`\`\`python
with self.lock:
    cart = self.store.get(key)
    return cart or Cart.empty()
\`\`\`

| run | result |
|---|---|
| before | 3 of 50 failed |
| after | 50 of 50 passed |

- [x] the test
- [ ] the changelog

See [the docs](https://example.org/locks) and \`<script>alert(1)</script>\`, which stays text: <script>alert(2)</script>`;

const DIFF = `--- a/cart/session.py
+++ b/cart/session.py
@@ -41,4 +41,4 @@ class CartSession:
     def load(self, key: str) -> Cart:
-        cart = self.store.get(key)
-        with self.lock:
-            return cart or Cart.empty()
+        with self.lock:
+            cart = self.store.get(key)
+            return cart or Cart.empty()
`;

function said(key: string, at: number, text: string, more: Partial<MessageRow> = {}): MessageRow {
  return {
    kind: "message",
    key,
    id: `web-d1:${key}`,
    text,
    at,
    mine: true,
    who: "you",
    via: "web-d1",
    attachments: [],
    pictures: [],
    receipt: "answered",
    why: "",
    ...more,
  };
}

function turn(key: string, at: number, text: string, more: Partial<TurnRow> = {}): TurnRow {
  return {
    kind: "turn",
    key,
    turn: key,
    seq: at,
    startedAt: at,
    endedAt: at + 61,
    live: false,
    thought: "",
    text,
    tools: [],
    asks: [],
    files: [],
    notes: [],
    how: "completed",
    error: "",
    advice: "",
    advicePhrase: null,
    usage: { input_tokens: 21_000, output_tokens: 900, cost_dollars: 0.11 },
    ...more,
  };
}

const SETTLED: AskedInTurn = {
  id: "old",
  about: "permission",
  question: "Run: pytest -q tests/checkout",
  detail: "pytest -q tests/checkout",
  choices: [{ id: "once", label: "Allow once" }],
  action: { kind: "run", target: "pytest -q tests/checkout" },
  settled: { how: "answered", choice: "once", note: "", who: "you" },
  problem: "",
};

const BACKENDS: Readonly<Record<string, string>> = {
  gus: "gemini",
  pia: "gemini",
  ivy: "codex",
  cora: "codex",
  otto: "opencode",
  ned: "native",
  demo: "demo",
};

/** What may go wrong, one after the other. */
function troubles(at: number, name: string): readonly Row[] {
  return [
    said(`${name}-m3`, at - 400, "Deploy it", {
      receipt: "refused",
      why: `${name} is offline. Relaunch it, or send it anyway.`,
    }),
    said(`${name}-m4`, at - 390, "Are you there?", {
      receipt: "unknown",
      why: "The agent's process died while it was handed over.",
    }),
    turn(`${name}-t3`, at - 380, "I began, and", { how: "failed", error: "The agent exited with code 137." }),
    {
      kind: "event",
      key: `${name}-off`,
      seq: 50,
      at: at - 300,
      what: { type: "offline", why: "The agent ended.", whyPhrase: { code: "why_agent_ended" }, asked: false },
    },
    { kind: "event", key: `${name}-on`, seq: 51, at: at - 290, what: { type: "online", back: true } },
  ];
}

interface Exchange {
  readonly said: string;
  readonly title: string;
  readonly output: string;
  readonly answer: string;
}

const SUITE: Exchange = {
  said: "Run the suite fifty times, then push.",
  title: "for i in $(seq 50); do pytest -q; done",
  output: "24 passed in 3.10s",
  answer: "I ran the suite fifty times without a failure, and pushed.",
};

/** What each of them was told last, and what came of it. */
const LATEST: Readonly<Record<string, Exchange>> = {
  gus: {
    said: "The parser belongs into model/. Plan that first.",
    title: "grep -rn 'import parse' src",
    output: "src/reader.py\nsrc/ingest.py",
    answer: "I have read the parser and its two callers. Here is how I would mo",
  },
  cora: {
    said: "Run the core tests and mend what fails.",
    title: "pytest -q tests/core",
    output: "",
    answer: "Two tests of the clock fail in summer time. I mend the clock, not the te",
  },
  otto: {
    said: "Write the docs anew, please.",
    title: "make docs",
    output: "12 pages changed",
    answer: "The docs are written anew. 12 pages changed.",
  },
  pia: {
    said: "Go on with the ingestor.",
    title: "pytest -q tests/ingest",
    output: "",
    answer: "The ingestor reads a page at a time now. The last page still fai",
  },
  zoe: {
    said: "Why is the order page slow?",
    title: "python -m profile orders.py",
    output: "40 queries, 1.9 s",
    answer: "The slow page needs one query instead of forty.",
  },
  ned: { said: "Sort the imports.", title: "ruff check --fix .", output: "3 fixed", answer: "Done." },
};

/** What is under way, and what waits. */
function atWork(at: number, name: string): readonly Row[] {
  const {
    said: words,
    title,
    answer,
  } = LATEST[name] ?? { ...SUITE, answer: "I ran the suite fifty times without a failu" };
  return [
    said(`${name}-m5`, at - 82, words, { receipt: "seen" }),
    turn(`${name}-t4`, at - 81, answer, {
      live: true,
      endedAt: null,
      how: null,
      usage: null,
      tools: [{ call: "9", tool: "Bash", title, detail: "", startedAt: at - 60, ok: null, output: "" }],
    }),
    ...(name === "ann" ? [said("ann-m7", at - 5, "And tell me when it is out", { receipt: "on-phone", id: "" })] : []),
  ];
}

/** What was under way, and is done. */
function rested(at: number, name: string): readonly Row[] {
  const { said: words, title, output, answer } = LATEST[name] ?? SUITE;
  return [
    said(`${name}-m5`, at - 82, words),
    turn(`${name}-t4`, at - 81, answer, {
      usage: { input_tokens: 16_500, output_tokens: 700, cost_dollars: 0.04 },
      endedAt: at - 44,
      tools: [{ call: "9", tool: "Bash", title, detail: "", startedAt: at - 60, ok: true, output }],
    }),
  ];
}

/** What was said at the desk yesterday, in a conversation that can be taken up. */
export function atTheDesk(at: number): readonly Row[] {
  return [
    said("desk-m1", at - 900, "The ingestor reads everything at once. Let it read page by page."),
    turn("desk-t1", at - 899, "It asks for **500 rows** at a time now, and goes on where the last page ended.", {
      thought: "The last page may be short; that is how it knows the end.",
      tools: [
        {
          call: "1",
          tool: "Read",
          title: "Read ingest/reader.py",
          detail: "",
          startedAt: at - 890,
          ok: true,
          output: "88 lines",
        },
        {
          call: "2",
          tool: "Edit",
          title: "Edit ingest/reader.py",
          detail: "",
          startedAt: at - 870,
          ok: true,
          output: "",
        },
      ],
    }),
    said("desk-m2", at - 300, "Does it hold when a row comes in between two pages?"),
    turn(
      "desk-t2",
      at - 299,
      "Not yet: it would be read twice. I would ask for rows after the last key instead. Shall I?",
    ),
  ];
}

/** Those of the team who are at work. */
const BUSY = new Set(["ann", "gus", "cora", "pia"]);

/** What was said with a worker; with a number, that many rows. */
export function conversations(at: number, name: string, many: number): readonly Row[] {
  const long = Array.from({ length: many }, (_, n) =>
    n % 2 === 0
      ? said(`l${n}`, at - 9000 - many + n, `Message number ${n}`)
      : turn(`l${n}`, at - 9000 - many + n, `Answer number ${n}. ${"It is a longer line of words. ".repeat(n % 7)}`),
  );
  const hired: Row = {
    kind: "event",
    key: `${name}-hired`,
    seq: 1,
    at: at - 9000,
    what: { type: "hired", backend: BACKENDS[name] ?? "claude", directory: "~/code/shop", note: "" },
  };
  if (name === "demo") return [{ ...hired, at: at - 30 }];
  return [
    ...long,
    hired,
    said(`${name}-m1`, at - 900, "The checkout test fails now and then. Find the race and fix it."),
    turn(`${name}-t1`, at - 899, ANSWER, {
      thought: "The cart is read before the lock is taken. Two requests of one person can meet there.",
      tools: [
        {
          call: "1",
          tool: "Read",
          title: "Read cart/session.py, cart/lock.py",
          detail: "",
          startedAt: at - 895,
          ok: true,
          output: "120 lines",
        },
        {
          call: "2",
          tool: "Edit",
          title: "Edit cart/session.py",
          detail: DIFF,
          startedAt: at - 880,
          ok: true,
          output: "",
        },
        {
          call: "3",
          tool: "Bash",
          title: "pytest -q tests/checkout",
          detail: "pytest -q tests/checkout",
          startedAt: at - 870,
          ok: true,
          output: "........................ [100%]\n24 passed in 3.12s",
        },
        {
          call: "4",
          tool: "Bash",
          title: "ruff check .",
          detail: "",
          startedAt: at - 860,
          ok: false,
          output: "E501 line too long",
        },
      ],
      asks: [SETTLED],
      notes: ["Compacted the conversation."],
    }),
    said(`${name}-m2`, at - 500, "Draw a poster for the sale: a sunrise over the sea."),
    turn(`${name}-t2`, at - 499, "Here is the poster.", {
      usage: { input_tokens: 9_800, output_tokens: 2_300, cost_dollars: 0.07 },
      endedAt: at - 476,
      files: [{ path: "sunrise.png", name: "sunrise.png", media_type: "image/png" }],
    }),
    ...(name === "cora" || name === "ned" ? troubles(at, name) : []),
    ...(name === "ivy" ? [] : BUSY.has(name) ? atWork(at, name) : rested(at, name)),
  ];
}
