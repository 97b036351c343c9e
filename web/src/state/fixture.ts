/** The app's state without a node, for development and tests: every screen has something to show. Never in a build. */

import { computed, type Signal, signal } from "@preact/signals";
import { t } from "../texts";
import { busyTeam, HIRE_CHOICES } from "./fixture-data";
import { AWAY } from "./fixture-digest";
import { CHANGES, FILE, FOLDER, PANE, SUNRISE } from "./fixture-files";
import { atTheDesk, conversations } from "./fixture-talk";
import { USUAL } from "./settings";
import type {
  Actions,
  App,
  Attachment,
  AttentionSettings,
  Connection,
  Conversation,
  Device,
  Draft,
  MessageRow,
  OpenAsk,
  OutboxItem,
  Outcome,
  QueuedMessage,
  Row,
  Settings,
  Toast,
  TurnRow,
  Worker,
} from "./types";

const WORD_MILLISECONDS = 40;
const DONE: Outcome = { ok: true };

interface FixtureConversation extends Conversation {
  readonly rows: Signal<readonly Row[]>;
  readonly more: Signal<boolean>;
  readonly loadingOlder: Signal<boolean>;
}

/**
 * The query says how things stand: `?link=offline|unpaired|starting|catching-up`, `?team=empty|loading`, `?update=1`, `?tour=1`,
 * `?state=empty` for nothing said, asked, changed or found, `?state=failed` for what cannot be had, `?readonly=1`,
 * `?long=5000` for that many rows, `?stream=1` for an answer that never stops.
 */
export function fixtureApp(query: URLSearchParams): App {
  return new FixtureApp(query);
}

class FixtureApp implements App {
  readonly connection: Signal<Connection>;
  readonly device = signal<Device | null>({
    id: "d1",
    name: "Chrome on Android",
    pairedAt: now() - 86_400,
    lastSeen: now(),
    readOnly: false,
    me: true,
  });
  readonly team: Signal<readonly Worker[] | null>;
  readonly asks = computed<readonly OpenAsk[]>(() => (this.team.value ?? []).flatMap((worker) => worker.asks));
  readonly here = signal([
    { name: "iPad", worker: "ann" },
    { name: "", worker: "ann" },
  ]);
  readonly outbox = signal<readonly OutboxItem[]>([]);
  readonly settings: Signal<Settings>;
  readonly attention = signal<AttentionSettings>({ hours: { start: 1320, end: 420 }, exceptions: ["ask"] });
  readonly toasts = signal<readonly Toast[]>([]);
  readonly updateReady: Signal<boolean>;
  readonly clock = signal(now());
  private readonly open = new Map<string, FixtureConversation>();
  private readonly long: number;
  private readonly isEmpty: boolean;
  private readonly hasFailed: boolean;
  private pushed = false;

  constructor(query: URLSearchParams) {
    const link = (query.get("link") ?? "live") as Connection["link"];
    this.connection = signal({
      link,
      lastLive: link === "live" ? now() : now() - 95,
      nextTry: link === "offline" ? now() + 12 : null,
      why: link === "offline" ? t("nodeSilent") : "",
    });
    const team = query.get("team");
    this.isEmpty = query.get("state") === "empty";
    this.hasFailed = query.get("state") === "failed";
    const busy = this.isEmpty ? busyTeam(now()).map(quiet) : busyTeam(now());
    this.team = signal(team === "loading" ? null : team === "empty" ? [] : busy);
    if (query.get("readonly") !== null && this.device.value) {
      this.device.value = { ...this.device.value, readOnly: true };
    }
    this.settings = signal({ ...USUAL, toured: query.get("tour") === null });
    this.updateReady = signal(query.get("update") !== null);
    this.long = Number(query.get("long") ?? 0);
    setInterval(() => {
      this.clock.value = now();
    }, 1000);
    if (query.get("stream") !== null) {
      this.stream("ann", 1_000_000);
    }
  }

  conversation(worker: string): FixtureConversation {
    const known = this.open.get(worker);
    if (known) {
      return known;
    }
    const made: FixtureConversation = {
      worker,
      rows: signal(this.isEmpty || this.hasFailed ? [] : conversations(now(), worker, this.long)),
      status: signal(this.hasFailed ? ("failed" as const) : ("ready" as const)),
      problem: signal(this.hasFailed ? t("nodeSilent") : ""),
      more: signal(this.long > 0),
      loadingOlder: signal(false),
      draft: signal<Draft>({ text: "", pictures: [] }),
    };
    this.open.set(worker, made);
    return made;
  }

  fileUrl(_worker: string, file: Attachment): string {
    return file.media_type === "image/png" ? SUNRISE : "";
  }

  private change(name: string, change: (worker: Worker) => Worker): void {
    this.team.value = (this.team.value ?? []).map((one) => (one.name === name ? change(one) : one));
  }

  private changeQueue(change: (queue: readonly QueuedMessage[]) => readonly QueuedMessage[]): void {
    this.team.value = (this.team.value ?? []).map((one) => ({ ...one, queue: change(one.queue) }));
  }

  private rowsOf(worker: string, change: (rows: readonly Row[]) => readonly Row[]): void {
    const rows = this.conversation(worker).rows;
    rows.value = change(rows.value);
  }

  private everywhere(change: (rows: readonly Row[]) => readonly Row[]): void {
    for (const name of this.open.keys()) {
      this.rowsOf(name, change);
    }
  }

  private receipt(worker: string, key: string, receipt: MessageRow["receipt"]): void {
    this.rowsOf(worker, (rows) =>
      rows.map((row) => (row.kind === "message" && row.key === key ? { ...row, receipt } : row)),
    );
  }

  private stream(worker: string, words: number, after: () => void = () => undefined): void {
    const key = `turn-${crypto.randomUUID()}`;
    const turn: TurnRow = {
      kind: "turn",
      key,
      turn: key,
      seq: Date.now(),
      startedAt: now(),
      endedAt: null,
      live: true,
      thought: "",
      text: "",
      tools: [],
      asks: [],
      files: [],
      notes: [],
      how: null,
      error: "",
      advice: "",
      advicePhrase: null,
      usage: null,
    };
    this.rowsOf(worker, (rows) => [...rows, turn]);
    this.change(worker, (one) => ({ ...one, state: "working", workingSince: now() }));
    let said = 0;
    const timer = setInterval(() => {
      said += 1;
      const last = said >= words;
      this.rowsOf(worker, (rows) =>
        rows.map((row) =>
          row.kind === "turn" && row.key === key
            ? {
                ...row,
                text: `${row.text}${said % 30 === 0 ? "\n\n" : " "}word ${said}`,
                live: !last,
                endedAt: last ? now() : null,
              }
            : row,
        ),
      );
      if (last) {
        clearInterval(timer);
        this.change(worker, (one) => ({
          ...one,
          state: "available",
          workingSince: null,
          lastLine: "I am done.",
          lastAt: now(),
        }));
        after();
      }
    }, WORD_MILLISECONDS);
  }

  private toast(kind: Toast["kind"], text: string): void {
    const id = crypto.randomUUID();
    this.toasts.value = [...this.toasts.value, { id, kind, text }];
  }

  readonly actions: Actions = {
    say: (worker, text) => {
      const key = crypto.randomUUID();
      const row: MessageRow = {
        kind: "message",
        key,
        id: "",
        text,
        at: now(),
        mine: true,
        who: "you",
        via: "web-d1",
        attachments: [],
        pictures: this.conversation(worker).draft.value.pictures,
        receipt: "on-phone",
        why: "",
      };
      this.rowsOf(worker, (rows) => [...rows, row]);
      setTimeout(() => this.receipt(worker, key, "seen"), 600);
      setTimeout(() => this.stream(worker, 60, () => this.receipt(worker, key, "answered")), 900);
      return key;
    },
    retry: (key) =>
      this.everywhere((rows) =>
        rows.map((row) => (row.key === key && row.kind === "message" ? { ...row, receipt: "queued", why: "" } : row)),
      ),
    drop: (key) => {
      this.everywhere((rows) => rows.filter((row) => row.key !== key));
      this.changeQueue((queue) => queue.filter((one) => one.id !== key));
    },
    edit: (key, text) => this.changeQueue((queue) => queue.map((one) => (one.id === key ? { ...one, text } : one))),
    sendNow: (key) => this.changeQueue((queue) => queue.map((one) => (one.id === key ? { ...one, now: true } : one))),
    reorder: async (worker, ids) => {
      this.change(worker, (one) => ({
        ...one,
        queue: [...one.queue].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)),
      }));
      return DONE;
    },
    answer: (ask, choices) => {
      this.team.value = (this.team.value ?? []).map((one) => ({
        ...one,
        asks: one.asks.filter((open) => open.id !== ask),
        state: one.asks.some((open) => open.id === ask) && one.asks.length === 1 ? "working" : one.state,
      }));
      this.toast("info", `Answered: ${choices.join(", ")}`);
    },
    interrupt: async (worker) => {
      this.change(worker, (one) => ({ ...one, interrupting: true, queue: [] }));
      return DONE;
    },
    hire: async ({ name, backend }) =>
      (this.team.value ?? []).some((one) => one.name === name)
        ? { ok: false, why: `There is a worker called ${name} already.` }
        : this.hired(name, backend),
    relaunch: async (worker) => {
      this.change(worker, (one) => ({ ...one, relaunching: true, state: "starting" }));
      return DONE;
    },
    end: async (worker) => {
      this.team.value = (this.team.value ?? []).filter((one) => one.name !== worker);
      return DONE;
    },
    tune: async (worker, change) => {
      this.change(worker, (one) => ({ ...one, ...change }));
      return DONE;
    },
    tryAgain: async (worker) => {
      this.change(worker, (one) => ({ ...one, state: "available", resumesAt: null }));
      return DONE;
    },
    focus: async (worker) => {
      this.team.value = (this.team.value ?? []).map((one) => ({ ...one, focused: one.name === worker }));
      return DONE;
    },
    review: async () => DONE,
    reviewAgain: async () => DONE,
    cancelReview: async (worker, review) => {
      this.change(worker, (one) => ({ ...one, reviews: one.reviews.filter((each) => each.id !== review) }));
      return DONE;
    },
    sendFindings: async (_worker, _review, findings) => {
      this.toast("info", `Sent back: ${findings.length}`);
      return DONE;
    },
    refreshReviews: async () => undefined,
    merge: async () => DONE,
    loadOlder: async (worker) => {
      const open = this.conversation(worker);
      open.loadingOlder.value = true;
      await new Promise((done) => setTimeout(done, 500));
      const older = conversations(now() - 86_400, "older", 0).map((row) => ({
        ...row,
        key: `${row.key}-${crypto.randomUUID()}`,
      }));
      this.rowsOf(worker, (rows) => [...older, ...rows]);
      open.loadingOlder.value = false;
      open.more.value = open.rows.value.length < 200;
    },
    loadAround: async () => undefined,
    look: (worker) => this.change(worker, (one) => ({ ...one, unread: 0 })),
    changes: async () => {
      if (this.hasFailed) throw new Error(t("nodeSilent"));
      return { patch: this.isEmpty ? "" : CHANGES, cut: false };
    },
    folder: async (_worker, path) => ({ entries: path === "" ? FOLDER : FOLDER.slice(3), more: false }),
    fileText: async () => ({ text: FILE, size: FILE.length, cut: false }),
    watchPane: (worker, watcher) => {
      if (this.hasFailed) {
        watcher.lost(`${worker} has no terminal right now.`);
        return { again: () => undefined, stop: () => undefined };
      }
      watcher.piece({ bytes: new TextEncoder().encode(PANE), columns: 60, rows: 22, reset: true });
      watcher.live();
      return { again: () => undefined, stop: () => undefined };
    },
    type: async () => DONE,
    search: async (query) => {
      if (this.hasFailed) throw new Error(t("nodeSilent"));
      return query.length < 2 || this.isEmpty
        ? []
        : [{ worker: "ann", seq: 1, at: now() - 3600, excerpt: `… the race, and ${query} beside it …` }];
    },
    passkeys: true,
    addPasskey: async () => DONE,
    usePasskey: async () => DONE,
    sessionPast: async () => {
      if (this.hasFailed) throw new Error(t("nodeSilent"));
      return { rows: this.isEmpty ? [] : atTheDesk(now() - 90_000), first: 0, more: false };
    },
    sessions: async () => [
      {
        id: "9f2c",
        backend: "claude",
        directory: "~/code/shop",
        title: "Fix the checkout race",
        at: now() - 4000,
        worker: "ann",
        open: false,
      },
      {
        id: "77ab",
        backend: "codex",
        directory: "~/code/api",
        title: "Paginate the ingestor",
        at: now() - 90_000,
        worker: "",
        open: true,
      },
    ],
    hireChoices: async () => HIRE_CHOICES,
    abilities: async (name) => ({ pane: name === "ann" || name === "demo", steer: true }),
    sprints: {
      start: async () => DONE,
      add: async () => DONE,
      skip: async () => DONE,
      halt: async () => DONE,
    },
    voice: {
      ready: async () => ({ ready: true, confirm: true, largestBytes: 20_000_000, why: "" }),
      note: async () => ({ ok: true, text: "" }),
      writeDown: async () => ({ ok: true, text: "" }),
    },
    devices: async () => [
      ...(this.device.value ? [this.device.value] : []),
      {
        id: "d2",
        name: "Safari on iPhone",
        pairedAt: now() - 900_000,
        lastSeen: now() - 7200,
        readOnly: true,
        me: false,
      },
    ],
    setAttention: async (settings) => {
      this.attention.value = settings;
      return DONE;
    },
    digest: async () => (this.isEmpty ? [] : AWAY).map((line) => ({ ...line, at: now() - 3600 })),
    push: async () => ({ support: "ready", on: this.pushed, problem: "" }),
    pushOn: async () => {
      this.pushed = true;
      return DONE;
    },
    pushOff: async () => {
      this.pushed = false;
      return DONE;
    },
    testPush: async () => ({
      ok: true,
      text: "fcm.googleapis.com took it. It should be on your screen now.",
      phrase: { code: "push_taken", values: { service: "fcm.googleapis.com" } },
    }),
    revoke: async () => DONE,
    pair: async (code) => {
      if (code.replace(/\W/g, "").length !== 10) {
        return { ok: false, why: t("fail_wrong_code") };
      }
      this.connection.value = { ...this.connection.value, link: "live" };
      return DONE;
    },
    logout: async () => {
      this.connection.value = { ...this.connection.value, link: "unpaired" };
    },
    attach: async (worker, files) => {
      const draft = this.conversation(worker).draft;
      const added = files.map((file) => ({
        id: crypto.randomUUID(),
        name: file.name,
        mediaType: file.type,
        bytes: file.size,
        url: file.type.startsWith("image/") ? URL.createObjectURL(file) : "",
        progress: 1,
      }));
      draft.value = { ...draft.value, pictures: [...draft.value.pictures, ...added] };
    },
    detach: (worker, picture) => {
      const draft = this.conversation(worker).draft;
      draft.value = { ...draft.value, pictures: draft.value.pictures.filter((one) => one.id !== picture) };
    },
    set: (change) => {
      this.settings.value = { ...this.settings.value, ...change };
    },
    dismiss: (toast) => {
      this.toasts.value = this.toasts.value.filter((one) => one.id !== toast);
    },
    reconnect: () => {
      this.connection.value = { link: "live", lastLive: now(), nextTry: null, why: "" };
    },
    update: () => {
      this.updateReady.value = false;
    },
  };

  private hired(name: string, backend: string): Outcome {
    const [first] = busyTeam(now());
    if (first) {
      this.team.value = [
        ...(this.team.value ?? []),
        { ...first, name, backend, state: "starting", asks: [], queue: [], unread: 0, lastLine: "" },
      ];
    }
    return DONE;
  }
}

/** A worker that wants nothing of anybody. */
function quiet(worker: Worker): Worker {
  return {
    ...worker,
    asks: [],
    queue: [],
    reviews: [],
    unread: 0,
    state: "available",
    workingSince: null,
    lastLine: "",
  };
}

function now(): number {
  return Date.now() / 1000;
}
