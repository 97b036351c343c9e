/** A busy afternoon: the team and the conversations that the fixture shows. */

import { TEXTS, type TextKey } from "../texts";
import { approvedReview, fixtureReviews } from "./fixture-reviews";
import type { SprintNow } from "./sprints";
import type { AskedInTurn, Choice, HireChoices, MessageRow, OpenAsk, Row, TurnRow, Worker } from "./types";

const PLAN = `## Move the parser into model/

1. Move \`parse.py\` and its tests.
2. Let the two callers import it from there.
3. Delete the old module.
4. Run the whole suite.

No new dependency. Three files change.`;

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

const SPRINT = (at: number): SprintNow => ({
  tasks: [
    { text: "Split the reader", state: "done", rounds: 2, why: "", commit: "a1f3c902" },
    { text: "Move errors to model/", state: "done", rounds: 1, why: "", commit: "77be01d4" },
    {
      text: "Paginate the ingestor",
      state: "now",
      rounds: 3,
      why: "FAILED tests/ingest/test_pages.py::test_last_page",
      commit: "",
    },
    { text: "Write the migration", state: "todo", rounds: 0, why: "", commit: "" },
    { text: "Renew the docs", state: "todo", rounds: 0, why: "", commit: "" },
  ],
  done: 2,
  total: 5,
  ownPlan: false,
  failures: 2,
  checking: false,
  began: at - 860,
  verifier: "make test",
  reviewers: ["codex"],
  judging: false,
  halting: false,
  cost: 0.8,
});

function worker(name: string, backend: string, at: number, more: Partial<Worker>): Worker {
  return {
    name,
    backend,
    wire: "",
    directory: "~/code/shop",
    model: "",
    mode: "default",
    effort: "",
    session: "9f2c",
    state: "available",
    failed: false,
    triable: [],
    workingSince: null,
    doing: "",
    whyOffline: "",
    whyOfflinePhrase: null,
    resumesAt: null,
    limitText: "",
    lastLine: "",
    lastBy: "worker",
    lastAt: at,
    unread: 0,
    asks: [],
    queue: [],
    reviews: [],
    judges: "",
    waits: [],
    sprint: null,
    usage: { input_tokens: 120_400, output_tokens: 8_100, cost_dollars: 0.42 },
    focused: false,
    interrupting: false,
    relaunching: false,
    tuning: false,
    ...more,
  };
}

/** A choice in the node's own words, by their codes. */
function choice(
  id: string,
  label: TextKey,
  more: Pick<Choice, "allows" | "words"> & { scope?: TextKey; values?: Record<string, string> } = {},
): Choice {
  const { scope, values = {}, ...plain } = more;
  const english = (key: TextKey) => TEXTS[key][0].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  return {
    id,
    label: english(label),
    label_phrase: { code: label, values },
    ...(scope ? { scope: english(scope), scope_phrase: { code: scope, values } } : {}),
    ...plain,
  };
}

function ask(id: string, by: string, at: number, more: Partial<OpenAsk>): OpenAsk {
  return {
    id,
    worker: by,
    about: "permission",
    question: "Run: git push origin main",
    detail: "git push origin main",
    choices: [
      choice("once", "label_allow_once"),
      choice("session", "label_allow_command_session", { scope: "scope_command" }),
      choice("always", "label_always_allow_what", {
        scope: "scope_rules_folder",
        values: { what: "Bash(git push:*)", rules: "Bash(git push:*)", file: ".claude/settings.local.json" },
      }),
      choice("deny", "label_deny", { allows: false, words: true }),
    ],
    several: false,
    action: { kind: "run", target: "git push origin main" },
    where: "~/code/shop",
    why: "The fix is committed and the tests pass.",
    questionPhrase: null,
    risks: ["runs a shell command with your rights", "uses the network", "changes something elsewhere"],
    riskPhrases: [{ code: "risk_shell" }, { code: "risk_network" }, { code: "risk_publishes" }],
    digest: "b1946ac9",
    deadline: null,
    raisedAt: at - 40,
    answering: false,
    ...more,
  };
}

/** Seven workers, one in each state. */
export function busyTeam(at: number): readonly Worker[] {
  return [
    worker("ann", "claude", at, {
      state: "waiting",
      model: "opus",
      wire: "tmux",
      workingSince: at - 82,
      lastLine: "I fixed the race and want to push.",
      unread: 1,
      focused: true,
      asks: [ask("a1", "ann", at, {})],
      queue: [
        {
          id: "web-d1:q1",
          worker: "ann",
          text: "and bump the version",
          at: at - 20,
          who: "you",
          attachments: [],
          now: false,
        },
        {
          id: "web-d1:q2",
          worker: "ann",
          text: "then write the changelog",
          at: at - 10,
          who: "you",
          attachments: [],
          now: false,
        },
      ],
    }),
    worker("gus", "gemini", at - 180, {
      state: "waiting",
      mode: "plan",
      lastLine: "4 steps, 3 files, no new dependency",
      unread: 1,
      asks: [
        ask("a2", "gus", at - 140, {
          about: "plan",
          why: "",
          question: "Move the parser into model/, 4 steps",
          detail: PLAN,
          action: null,
          risks: [],
          choices: [
            choice("yes", "label_edit_asking"),
            choice("edits", "label_edit_freely", { scope: "scope_edit_folder" }),
            choice("no", "label_keep_planning", { allows: false, words: true }),
          ],
        }),
        ask("a3", "gus", at - 20, {
          about: "choice",
          why: "",
          question: "Which databases shall the migration support?",
          detail: "",
          action: null,
          risks: [],
          several: true,
          choices: [
            { id: "pg", label: "PostgreSQL" },
            { id: "sqlite", label: "SQLite" },
            { id: "my", label: "MySQL" },
            choice("other", "label_something_else", { words: true }),
          ],
        }),
      ],
    }),
    worker("cora", "codex", at, {
      state: "working",
      workingSince: at - 134,
      doing: "pytest -q tests/core",
      reviews: [approvedReview(at)],
      lastLine: "▸ pytest -q tests/core",
      directory: "~/code/api",
    }),
    worker("otto", "opencode", at - 3600, {
      lastLine: "Docs are regenerated. 12 pages changed.",
      reviews: fixtureReviews(at),
    }),
    worker("pia", "gemini", at - 60, {
      lastLine: "The ingestor reads a page at a time now.",
      state: "working",
      workingSince: at - 51,
      doing: "pytest -q tests/ingest",
      sprint: SPRINT(at),
    }),
    worker("ivy", "codex", at - 3600, { lastLine: "The release notes are written." }),
    worker("zoe", "claude", at - 7200, {
      state: "limited",
      resumesAt: at + 5400,
      limitText: "5-hour limit reached",
      lastLine: "2 messages wait",
    }),
    worker("ned", "native", at - 90_000, {
      state: "offline",
      whyOffline: "it has no key. Sign in at the desk, or set its key where the node is started, then try again.",
      whyOfflinePhrase: { code: "why_no_key" },
      lastLine: "Done.",
    }),
    worker("demo", "demo", at - 30, { state: "starting", usage: {}, lastBy: "", lastLine: "", lastAt: 0 }),
  ];
}

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

/** What is under way, and what waits. */
function atWork(at: number, name: string): readonly Row[] {
  return [
    said(`${name}-m5`, at - 82, "Run the suite fifty times, then push.", { receipt: "seen" }),
    turn(`${name}-t4`, at - 81, "I ran the suite fifty times without a failu", {
      live: true,
      endedAt: null,
      how: null,
      usage: null,
      tools: [
        {
          call: "9",
          tool: "Bash",
          title: "for i in $(seq 50); do pytest -q; done",
          detail: "",
          startedAt: at - 60,
          ok: null,
          output: "",
        },
      ],
    }),
    ...(name === "ann"
      ? [said("ann-m6", at - 20, "and bump the version", { receipt: "queued", id: "web-d1:q1" })]
      : []),
    said(`${name}-m7`, at - 5, "written in a tunnel", { receipt: "on-phone", id: "" }),
  ];
}

/** What was under way, and is done. */
function rested(at: number, name: string): readonly Row[] {
  return [
    said(`${name}-m5`, at - 82, "Run the suite fifty times, then push."),
    turn(`${name}-t4`, at - 81, "I ran the suite fifty times without a failure, and pushed.", {
      tools: [
        {
          call: "9",
          tool: "Bash",
          title: "for i in $(seq 50); do pytest -q; done",
          detail: "",
          startedAt: at - 60,
          ok: true,
          output: "24 passed in 3.10s",
        },
      ],
    }),
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
  return [
    ...long,
    {
      kind: "event",
      key: `${name}-hired`,
      seq: 1,
      at: at - 9000,
      what: { type: "hired", backend: BACKENDS[name] ?? "claude", directory: "~/code/shop", note: "" },
    },
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
    said(`${name}-m2`, at - 500, "Paint me a sunrise, and tell me when it is done."),
    turn(`${name}-t2`, at - 499, "There.", {
      files: [{ path: "sunrise.png", name: "sunrise.png", media_type: "image/png" }],
    }),
    ...(name === "cora" || name === "ned" ? troubles(at, name) : []),
    ...(name === "ivy" ? [] : BUSY.has(name) ? atWork(at, name) : rested(at, name)),
  ];
}

const MODES = ["default", "auto_edit", "plan", "yolo"] as const;

const effortOf = (backend: string) => (backend === "claude" ? ["low", "medium", "high", "xhigh", "max"] : []);

export const HIRE_CHOICES: HireChoices = {
  backends: ["claude", "codex", "gemini", "opencode", "demo"].map((backend) => ({
    backend,
    title: backend,
    installed: backend !== "opencode",
    hint: backend === "opencode" ? "npm install -g opencode-ai" : "",
    wires:
      backend === "demo" ? [] : ["tmux", "headless"].map((wire) => ({ wire, modes: MODES, effort: effortOf(backend) })),
    models: backend === "claude" ? ["opus", "sonnet", "haiku"] : [],
    judges: true,
  })),
  backend: "claude",
  directory: "~/code/shop",
  mode: "default",
  folders: ["~/code/shop", "~/code/api", "~/notes"],
};
