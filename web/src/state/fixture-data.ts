/** A busy afternoon: the team that the fixture shows. */

import { TEXTS, type TextKey } from "../texts";
import { approvedReview, fixtureReviews } from "./fixture-reviews";
import type { SprintNow } from "./sprints";
import type { Choice, HireChoices, OpenAsk, QueuedMessage, Worker } from "./types";

const PLAN = `## Move the parser into model/

1. Move \`parse.py\` and its tests.
2. Let the two callers import it from there.
3. Delete the old module.
4. Run the whole suite.

No new dependency. Three files change.`;

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

/** What was used for so many dollars. */
const used = (dollars: number) => ({
  input_tokens: Math.round(dollars * 287_000),
  output_tokens: Math.round(dollars * 19_300),
  cost_dollars: dollars,
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
    usage: used(0.42),
    focused: false,
    interrupting: false,
    relaunching: false,
    tuning: false,
    ...more,
  };
}

/** Messages that wait for their turn, as they were written one after the other. */
function waiting(by: string, at: number, ...texts: readonly string[]): readonly QueuedMessage[] {
  return texts.map((text, place) => ({
    id: `web-d1:${by}-q${place + 1}`,
    worker: by,
    text,
    at: at - 10 * (texts.length - place),
    who: "you",
    attachments: [],
    now: false,
  }));
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
      queue: waiting("ann", at, "Bump the version to 2.4", "Write the changelog", "Thank Mia for the report"),
    }),
    worker("gus", "gemini", at - 180, {
      state: "waiting",
      mode: "plan",
      usage: used(0.18),
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
      usage: used(0.67),
      reviews: [approvedReview(at)],
      lastLine: "▸ pytest -q tests/core",
      directory: "~/code/api",
    }),
    worker("otto", "opencode", at - 3600, {
      usage: used(0.09),
      lastLine: "The docs are written anew. 12 pages changed.",
      reviews: fixtureReviews(at),
    }),
    worker("pia", "gemini", at - 60, {
      usage: used(0.8),
      lastLine: "The ingestor reads a page at a time now.",
      state: "working",
      workingSince: at - 51,
      doing: "pytest -q tests/ingest",
      sprint: SPRINT(at),
    }),
    worker("ivy", "codex", at - 5400, { usage: used(0.31), lastLine: "Here is the poster." }),
    worker("zoe", "claude", at - 7200, {
      state: "limited",
      resumesAt: at + 5400,
      usage: used(1.24),
      limitText: "5-hour limit reached",
      lastLine: "The slow page needs one query instead of forty.",
      queue: waiting("zoe", at, "Then do it for the search page, too", "And measure both again"),
    }),
    worker("ned", "native", at - 90_000, {
      state: "offline",
      whyOffline: "it has no key. Sign in at the desk, or set its key where the node is started, then try again.",
      whyOfflinePhrase: { code: "why_no_key" },
      usage: used(0.05),
      lastLine: "Done.",
    }),
    worker("demo", "demo", at - 30, { state: "starting", usage: {}, lastBy: "", lastLine: "", lastAt: 0 }),
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
