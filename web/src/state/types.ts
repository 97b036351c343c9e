/** What the screens see: values that change by themselves, and the actions that change them. Nothing below this is theirs. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import type { Action, AskKind, Attachment, Choice, HowEnded, HowSettled, Mode, Usage } from "./words";

export type * from "./words";

/* --- the connection */

/**
 * `starting`: nothing is known yet. `live`: what is shown is what is. `catching-up`: cut off a moment ago, nothing is said of it.
 * `offline`: cut off for longer than a few seconds; shown. `unpaired`: this browser has no key, or no longer.
 */
export type Link = "starting" | "live" | "catching-up" | "offline" | "unpaired";

export interface Connection {
  readonly link: Link;
  /** When it was last live, in seconds since 1970; 0 for never. */
  readonly lastLive: number;
  /** When the next attempt is made, in seconds since 1970; null while one is under way or none is needed. */
  readonly nextTry: number | null;
  /** What the node or the browser said about the last failure. */
  readonly why: string;
}

/** A device that is paired with the node. */
export interface Device {
  readonly id: string;
  readonly name: string;
  readonly pairedAt: number;
  readonly lastSeen: number;
  readonly readOnly: boolean;
  /** It is the one that this app runs on. */
  readonly me: boolean;
}

/* --- the team */

export type WorkerState = "working" | "waiting" | "available" | "limited" | "offline" | "starting" | "leaving";

/** One worker as the team's screen and the conversation's header show it. */
export interface Worker {
  readonly name: string;
  readonly backend: string;
  /** How its agent is reached: `tmux`, `headless`, …; empty for the backend's usual one. */
  readonly wire: string;
  readonly directory: string;
  readonly model: string;
  readonly mode: Mode;
  readonly session: string;
  readonly state: WorkerState;
  /** When the running turn began; null when none runs. */
  readonly workingSince: number | null;
  /** What the running turn does right now: the title of its tool; empty when it writes or thinks. */
  readonly doing: string;
  readonly whyOffline: string;
  /** When a usage limit is taken to be over; null when none holds it up. */
  readonly resumesAt: number | null;
  readonly limitText: string;
  /** The last line that was said, by whom, and when (0 for never). */
  readonly lastLine: string;
  readonly lastBy: "worker" | "manager" | "";
  readonly lastAt: number;
  /** Answers and notes that came since the conversation was last looked at. */
  readonly unread: number;
  readonly asks: readonly OpenAsk[];
  readonly queue: readonly QueuedMessage[];
  readonly usage: Usage;
  /** What is said without a name goes to it. */
  readonly focused: boolean;
  readonly interrupting: boolean;
  readonly relaunching: boolean;
  readonly tuning: boolean;
}

/** An ask that waits for a person. */
export interface OpenAsk {
  readonly id: string;
  readonly worker: string;
  readonly about: AskKind;
  readonly question: string;
  /** The whole of what will run, or of the plan, as Markdown or plain text. */
  readonly detail: string;
  readonly choices: readonly Choice[];
  /** More than one choice may be made. */
  readonly several: boolean;
  readonly action: Action | null;
  readonly where: string;
  readonly why: string;
  readonly risks: readonly string[];
  readonly digest: string;
  /** When it is settled by itself; null for never. */
  readonly deadline: number | null;
  readonly raisedAt: number;
  /** An answer of this device is on its way: nothing more is to be tapped. */
  readonly answering: boolean;
}

/** A message that waits for its turn on the node. */
export interface QueuedMessage {
  readonly id: string;
  readonly worker: string;
  readonly text: string;
  readonly at: number;
  readonly who: string;
  readonly attachments: readonly Attachment[];
  /** It is to go into the running turn. */
  readonly now: boolean;
}

/* --- the conversation */

/**
 * Where a message is. `on-phone`: not yet with the node. `accepted`: written down there. `refused`: the node said no, the text is kept.
 * `unknown`: nobody can tell whether the agent got it; offer Retry and Withdraw, do neither by itself.
 */
export type Receipt =
  | "on-phone"
  | "accepted"
  | "queued"
  | "started"
  | "handed-over"
  | "seen"
  | "answered"
  | "refused"
  | "withdrawn"
  | "unknown";

/** What a person said. Its key never changes, from the first tap on Send to the answer. */
export interface MessageRow {
  readonly kind: "message";
  readonly key: string;
  /** What the node calls it; empty while it is on the phone. */
  readonly id: string;
  readonly text: string;
  readonly at: number;
  readonly mine: boolean;
  readonly who: string;
  readonly via: string;
  readonly attachments: readonly Attachment[];
  readonly pictures: readonly Picture[];
  readonly receipt: Receipt;
  /** Why it was refused, or why nobody can tell. */
  readonly why: string;
}

export interface ToolCall {
  readonly call: string;
  readonly tool: string;
  readonly title: string;
  readonly detail: string;
  readonly startedAt: number;
  /** null while it runs. */
  readonly ok: boolean | null;
  readonly output: string;
}

/** An ask as it stands in the conversation. */
export interface AskedInTurn {
  readonly id: string;
  readonly about: AskKind;
  readonly question: string;
  readonly detail: string;
  readonly choices: readonly Choice[];
  readonly action: Action | null;
  readonly settled: {
    readonly how: HowSettled;
    readonly choice: string;
    readonly note: string;
    readonly who: string;
  } | null;
  readonly problem: string;
}

/** What the agent did and said, from a message to the end of its answer. */
export interface TurnRow {
  readonly kind: "turn";
  readonly key: string;
  readonly turn: string;
  readonly seq: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** It runs: text is still coming. */
  readonly live: boolean;
  readonly thought: string;
  readonly text: string;
  readonly tools: readonly ToolCall[];
  readonly asks: readonly AskedInTurn[];
  readonly files: readonly Attachment[];
  readonly notes: readonly string[];
  readonly how: HowEnded | null;
  readonly error: string;
  readonly usage: Usage | null;
}

/** What happened beside the turns. */
export interface EventRow {
  readonly kind: "event";
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly what:
    | { readonly type: "hired"; readonly backend: string; readonly directory: string; readonly note: string }
    | { readonly type: "ended"; readonly resume: string }
    | { readonly type: "online"; readonly back: boolean }
    | { readonly type: "offline"; readonly why: string; readonly asked: boolean }
    | { readonly type: "tuned"; readonly model: string; readonly mode: Mode | ""; readonly refused: string }
    | { readonly type: "limited"; readonly text: string; readonly until: number | null }
    | { readonly type: "limit-lifted" }
    | { readonly type: "said"; readonly text: string }
    | { readonly type: "responded"; readonly text: string; readonly html: boolean }
    | { readonly type: "showed"; readonly file: Attachment }
    | { readonly type: "noted"; readonly text: string }
    | { readonly type: "asked"; readonly ask: AskedInTurn };
}

export type Row = MessageRow | TurnRow | EventRow;

/** One worker's conversation: the oldest row first, the messages that still wait last. A row that did not change is the same object. */
export interface Conversation {
  readonly worker: string;
  readonly rows: ReadonlySignal<readonly Row[]>;
  /** `cached`: from this device, not yet confirmed by the node. `failed`: see `problem`. */
  readonly status: ReadonlySignal<"loading" | "cached" | "ready" | "failed">;
  readonly problem: ReadonlySignal<string>;
  /** There are older rows on the node. */
  readonly more: ReadonlySignal<boolean>;
  readonly loadingOlder: ReadonlySignal<boolean>;
  readonly draft: Signal<Draft>;
}

/** A picture or a file that is to go along; `blob` lives on the phone until it is sent. */
export interface Picture {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** An object URL to show it by; empty for what is no picture. */
  readonly url: string;
  /** From 0 to 1 while it is brought to the node; 1 when it is there. */
  readonly progress: number;
}

/** What was written and not sent; kept on the phone, per worker. */
export interface Draft {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** A command that the node has not confirmed yet. */
export interface OutboxItem {
  readonly id: string;
  readonly worker: string;
  readonly what: "say" | "answer" | "reword" | "steer" | "withdraw";
  readonly text: string;
  readonly at: number;
  readonly state: "waiting" | "sending" | "refused";
  readonly why: string;
}

/* --- the rest */

export interface Found {
  readonly worker: string;
  readonly seq: number;
  readonly at: number;
  readonly excerpt: string;
}

export interface SessionFound {
  readonly id: string;
  readonly backend: string;
  readonly directory: string;
  readonly title: string;
  readonly at: number;
  /** The worker that has it; empty for nobody. */
  readonly worker: string;
  readonly open: boolean;
}

/** A patch as `git diff` prints it; `cut` says that there is more of it. */
export interface Changes {
  readonly patch: string;
  readonly cut: boolean;
}

export interface FolderListing {
  readonly entries: readonly {
    readonly name: string;
    readonly kind: "file" | "folder" | "link" | "other";
    readonly size: number;
  }[];
  readonly more: boolean;
}

/** A file as text; null when it is no text. */
export interface FileText {
  readonly text: string | null;
  readonly size: number;
  readonly cut: boolean;
}

/** What a terminal wrote; after a `reset` it is the whole screen. */
export interface PanePiece {
  readonly bytes: Uint8Array;
  readonly columns: number;
  readonly rows: number;
  readonly reset: boolean;
}

/** A text, then keys by tmux's names for them; a paste is one, whatever is in it. */
export interface PaneInput {
  readonly text?: string;
  readonly keys?: readonly string[];
  readonly paste?: boolean;
}

export interface HireRequest {
  readonly name: string;
  readonly backend: string;
  readonly wire?: string;
  readonly directory?: string;
  readonly model?: string;
  readonly mode?: Mode;
  readonly session?: string;
}

/** One kind of agent that can be hired here. */
export interface HireChoice {
  readonly backend: string;
  readonly title: string;
  readonly installed: boolean;
  /** What to do where it is not installed. */
  readonly hint: string;
  readonly wires: readonly string[];
  readonly models: readonly string[];
  readonly modes: readonly Mode[];
}

export interface Settings {
  readonly theme: "system" | "dark" | "light";
  readonly language: "system" | "en" | "de" | "fr" | "es" | "zh";
  readonly wrapCode: boolean;
  readonly wrapDiff: boolean;
  /** Enter sends; on touch it never does. */
  readonly enterSends: boolean;
  readonly textSize: "small" | "normal" | "large";
  /** The tour was seen. */
  readonly toured: boolean;
}

export interface Toast {
  readonly id: string;
  readonly kind: "info" | "error";
  readonly text: string;
}

/** What came of a command that is not queued on the phone: it was taken, or why not. */
export type Outcome = { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface Actions {
  /** Sends what was written; returns at once with the message's key. With `now` it goes into the running turn. */
  say(worker: string, text: string, options?: { now?: boolean; pictures?: readonly Picture[] }): string;
  /** Sends a refused or doubted message once more, as a new one. */
  retry(key: string): void;
  /** Takes a message back that is on the phone, refused or waiting. */
  drop(key: string): void;
  edit(key: string, text: string): void;
  /** Puts a waiting message into the running turn. */
  sendNow(key: string): void;
  /** Puts the waiting messages of a worker into this order, by their ids. */
  reorder(worker: string, ids: readonly string[]): Promise<Outcome>;
  /** Answers an ask with one choice or several, and words. */
  answer(ask: string, choices: readonly string[], note?: string): void;
  interrupt(worker: string): Promise<Outcome>;
  hire(request: HireRequest): Promise<Outcome>;
  relaunch(worker: string): Promise<Outcome>;
  end(worker: string, handBack?: boolean): Promise<Outcome>;
  tune(worker: string, change: { model?: string; mode?: Mode }): Promise<Outcome>;
  /** Goes on although a usage limit may still hold. */
  tryAgain(worker: string): Promise<Outcome>;
  focus(worker: string): Promise<Outcome>;
  loadOlder(worker: string): Promise<void>;
  /** Loads the page of a conversation that ends with this entry, for a place that was found. */
  loadAround(worker: string, seq: number): Promise<void>;
  /** Tells the node and this device what is looked at; empty for no worker. Clears its unread mark. */
  look(worker: string): void;
  /** What is changed in the worker's folder, or what a turn of it changed; rejects with a sentence where nobody can tell. */
  changes(worker: string, turn?: string): Promise<Changes>;
  /** What is in a folder of the worker's; the path is from its own folder on. */
  folder(worker: string, path: string): Promise<FolderListing>;
  fileText(worker: string, path: string): Promise<FileText>;
  /** Watches the worker's own terminal until the returned function is called; `end` says why it is over, if it is known. */
  watchPane(worker: string, piece: (piece: PanePiece) => void, end: (why: string) => void): () => void;
  /** Types into the worker's terminal. */
  type(worker: string, input: PaneInput): Promise<Outcome>;
  search(query: string, worker?: string): Promise<readonly Found[]>;
  sessions(backend?: string, directory?: string): Promise<readonly SessionFound[]>;
  hireChoices(): Promise<readonly HireChoice[]>;
  devices(): Promise<readonly Device[]>;
  revoke(device: string): Promise<Outcome>;
  pair(code: string, name?: string): Promise<Outcome>;
  /** Ends this device on the node and forgets what is kept here. */
  logout(): Promise<void>;
  attach(worker: string, files: readonly File[]): Promise<void>;
  detach(worker: string, picture: string): void;
  set(change: Partial<Settings>): void;
  dismiss(toast: string): void;
  reconnect(): void;
  /** Takes the new version of the app; drafts are kept. */
  update(): void;
}

/** Everything that a screen may see and do. */
export interface App {
  readonly connection: ReadonlySignal<Connection>;
  readonly device: ReadonlySignal<Device | null>;
  /** null until anything is known, from this device or from the node. Who waits for the manager comes first. */
  readonly team: ReadonlySignal<readonly Worker[] | null>;
  readonly asks: ReadonlySignal<readonly OpenAsk[]>;
  readonly outbox: ReadonlySignal<readonly OutboxItem[]>;
  readonly settings: ReadonlySignal<Settings>;
  readonly toasts: ReadonlySignal<readonly Toast[]>;
  /** A new version of the app is there and waits for `update`. */
  readonly updateReady: ReadonlySignal<boolean>;
  /** Seconds since 1970, once a second while the screen is seen: for times that run. */
  readonly clock: ReadonlySignal<number>;
  conversation(worker: string): Conversation;
  /** Where a file of a conversation can be fetched from this node; empty where it cannot. */
  fileUrl(worker: string, file: Attachment): string;
  readonly actions: Actions;
}
