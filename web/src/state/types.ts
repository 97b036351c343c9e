/** What the screens see: values that change by themselves, and the actions that change them. Nothing below this is theirs. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import type { SprintActions, SprintNow } from "./sprints";
import type { VoiceActions } from "./voice";
import type {
  Action,
  AskKind,
  Attachment,
  AttentionSettings,
  Choice,
  DigestLine,
  HowEnded,
  HowSettled,
  Judgement,
  Mode,
  Phrase,
  PushTest,
  ReviewerPhase,
  ReviewScope,
  Severity,
  Usage,
} from "./words";

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

/** Somebody else who is there: a device's name, empty for whoever sits at the desk; and the worker that is looked at. */
export interface Somebody {
  readonly name: string;
  readonly worker: string;
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
  /** How hard it thinks; empty as its agent is set. */
  readonly effort: string;
  readonly session: string;
  readonly state: WorkerState;
  /** Its last turn failed, or nobody knows what became of it. */
  readonly failed: boolean;
  /** The turns that failed and can be tried again. */
  readonly triable: readonly string[];
  /** When the running turn began; null when none runs. */
  readonly workingSince: number | null;
  /** What the running turn does right now: the title of its tool; empty when it writes or thinks. */
  readonly doing: string;
  readonly whyOffline: string;
  readonly whyOfflinePhrase: Phrase | null;
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
  /** Reviews of its work, the oldest first. */
  readonly reviews: readonly Review[];
  /** What of it needs the person, beside its questions. */
  readonly waits: readonly Waits[];
  /** Whose work it was hired to judge; empty for everybody else. */
  readonly judges: string;
  /** The tasks that it does by itself, one after the other; null where it does none. */
  readonly sprint: SprintNow | null;
  readonly usage: Usage;
  /** What is said without a name goes to it. */
  readonly focused: boolean;
  readonly interrupting: boolean;
  readonly relaunching: boolean;
  readonly tuning: boolean;
}

/** Something that waits for a person; `key` is the id of the message or the review that it is about. */
export interface Waits {
  readonly kind: "ask" | "doubt" | "offline" | "sprint" | "limit" | "review";
  readonly worker: string;
  readonly key: string;
  readonly text: string;
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
  /** The question and each of the risks by code; none where they are not the node's own words. */
  readonly questionPhrase: Phrase | null;
  readonly riskPhrases: readonly Phrase[];
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

/* --- reviews */

/** A review of a worker's work: verdicts of one or several reviewers, all in one round. */
export interface Review {
  readonly id: string;
  readonly number: number;
  readonly scope: ReviewScope;
  readonly at: number;
  readonly over: boolean;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly problem: string;
  readonly round: number;
  /** The folder has changed since: its verdicts no longer hold. */
  readonly stale: boolean;
  /** What all reviewers say together. */
  readonly judgement: Judgement;
  readonly reviewers: readonly Reviewer[];
}

export interface Reviewer {
  readonly worker: string;
  readonly backend: string;
  readonly phase: ReviewerPhase;
  readonly problem: string;
  readonly verdict: ReviewVerdict | null;
}

export interface ReviewVerdict {
  readonly judgement: Judgement;
  readonly summary: string;
  /** From 0 to 1; null where the reviewer did not say. */
  readonly confidence: number | null;
  readonly findings: readonly ReviewFinding[];
  /** The whole answer, where it could not be read as a verdict. */
  readonly text: string;
}

export interface ReviewFinding {
  readonly key: string;
  readonly severity: Severity;
  readonly title: string;
  /** `path:line`; empty where it is about nothing in particular. */
  readonly place: string;
  readonly detail: string;
  readonly sent: boolean;
}

export interface ReviewRequest {
  readonly scope: ReviewScope;
  readonly by: readonly string[];
  readonly note: string;
  readonly turn?: string;
  readonly base?: string;
  readonly head?: string;
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
  /** What the error means and what to do about it; empty where it speaks for itself. */
  readonly advice: string;
  readonly advicePhrase: Phrase | null;
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
    | { readonly type: "offline"; readonly why: string; readonly whyPhrase: Phrase | null; readonly asked: boolean }
    | {
        readonly type: "tuned";
        readonly model: string;
        readonly mode: Mode | "";
        readonly effort: string;
        readonly refused: string;
      }
    | { readonly type: "limited"; readonly text: string; readonly until: number | null }
    | { readonly type: "limit-lifted" }
    | { readonly type: "said"; readonly text: string }
    | { readonly type: "responded"; readonly text: string; readonly html: boolean }
    | { readonly type: "showed"; readonly file: Attachment }
    | { readonly type: "noted"; readonly text: string }
    | { readonly type: "sprint-began"; readonly tasks: number }
    | {
        readonly type: "sprint-ended";
        readonly how: "done" | "halted" | "limit" | "stuck";
        readonly why: string;
        readonly done: number;
        readonly tasks: number;
      }
    | { readonly type: "asked"; readonly ask: AskedInTurn };
}

export type Row = MessageRow | TurnRow | EventRow;

/** A page of a conversation that no worker has: the oldest row first. */
export interface SessionPast {
  readonly rows: readonly Row[];
  /** The number of its first entry: the page before it ends there. */
  readonly first: number;
  readonly more: boolean;
}

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

/** Who looks at a terminal. */
export interface PaneWatcher {
  piece(piece: PanePiece): void;
  /** What it writes comes in, for the first time or again. */
  live(): void;
  /** It is not to be had right now, in the node's words; without any where the node is not reached. It is tried again. */
  lost(why: string): void;
}

export interface PaneWatch {
  /** Tries at once. */
  again(): void;
  stop(): void;
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
  readonly effort?: string;
  readonly session?: string;
  /** Takes the conversation over although it is open at the desk. */
  readonly anyway?: boolean;
}

/** One kind of agent that can be hired here. */
export interface HireChoice {
  readonly backend: string;
  readonly title: string;
  readonly installed: boolean;
  /** What to do where it is not installed. */
  readonly hint: string;
  /** How it can be run, the usual way first, what it may then be allowed, and how hard it can be told to think. */
  readonly wires: readonly {
    readonly wire: string;
    readonly modes: readonly Mode[];
    readonly effort: readonly string[];
  }[];
  readonly models: readonly string[];
  /** It can be kept from acting, so that it may judge others' work. */
  readonly judges: boolean;
}

/** What can be chosen at a hiring, and what the node would choose. */
export interface HireChoices {
  readonly backends: readonly HireChoice[];
  readonly backend: string;
  readonly directory: string;
  readonly mode: Mode;
  readonly folders: readonly string[];
}

/** What one worker's agent can do. */
export interface Abilities {
  /** Its terminal can be watched and typed into. */
  readonly pane: boolean;
  /** A message can be put into its running turn. */
  readonly steer: boolean;
}

export interface Settings {
  readonly theme: "system" | "dark" | "light";
  readonly language: "system" | "en" | "de" | "fr" | "es" | "zh";
  readonly wrapCode: boolean;
  readonly wrapDiff: boolean;
  /** Enter sends; on touch it never does. */
  readonly enterSends: boolean;
  readonly textSize: "small" | "normal" | "large";
  /** Who turns speech into text; `auto` is the node where it can, else the browser. */
  readonly voice: "auto" | "browser" | "node";
  /** The tour was seen. */
  readonly toured: boolean;
  /** This device may be reached while the app is closed, where its browser permits it; false once that was switched off. */
  readonly push: boolean;
}

/** Whether this device can be reached while the app is closed, whether it is, and what went wrong last. */
export interface PushState {
  /** `install`: an iPhone wants the app on its home screen first. */
  readonly support: "ready" | "denied" | "insecure" | "install" | "unsupported";
  readonly on: boolean;
  readonly problem: string;
}

export interface Toast {
  readonly id: string;
  readonly kind: "info" | "error";
  readonly text: string;
}

/** What came of a command that is not queued on the phone: it was taken, or why not. */
export type Outcome = { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface Actions {
  readonly sprints: SprintActions;
  readonly voice: VoiceActions;
  /** Sends what was written; returns at once with the message's key. With `now` it goes into the running turn. */
  say(
    worker: string,
    text: string,
    /** `apart`: it was written elsewhere, and the draft with its pictures stays. */
    options?: { now?: boolean; pictures?: readonly Picture[]; apart?: boolean },
  ): string;
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
  /** Stops what runs, and takes back what waits: nothing goes on by itself. */
  interrupt(worker: string): Promise<Outcome>;
  hire(request: HireRequest): Promise<Outcome>;
  relaunch(worker: string): Promise<Outcome>;
  end(worker: string, handBack?: boolean): Promise<Outcome>;
  tune(worker: string, change: { model?: string; mode?: Mode; effort?: string }): Promise<Outcome>;
  /** Goes on although a usage limit may still hold. */
  /** Says the message of a failed turn again; without a turn, goes on though a usage limit may still hold. */
  tryAgain(worker: string, turn?: string): Promise<Outcome>;
  focus(worker: string): Promise<Outcome>;
  /** Has the worker's work judged by others. */
  review(worker: string, request: ReviewRequest): Promise<Outcome>;
  reviewAgain(worker: string, review: string): Promise<Outcome>;
  cancelReview(worker: string, review: string): Promise<Outcome>;
  /** Sends findings back to the worker as one message. */
  sendFindings(worker: string, review: string, findings: readonly string[]): Promise<Outcome>;
  /** Has the node look whether the verdicts still hold; what comes of it is in the team. */
  refreshReviews(worker: string): Promise<void>;
  /** Brings a branch up to what was judged. */
  merge(worker: string, into: string): Promise<Outcome>;
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
  /** Watches the worker's own terminal until it is stopped, over cuts and restarts of the node. */
  watchPane(worker: string, watcher: PaneWatcher): PaneWatch;
  /** Types into the worker's terminal. */
  type(worker: string, input: PaneInput): Promise<Outcome>;
  search(query: string, worker?: string): Promise<readonly Found[]>;
  sessions(backend?: string, directory?: string): Promise<readonly SessionFound[]>;
  /** What was said in such a conversation, or what came before its entry `before`. */
  sessionPast(backend: string, session: string, before?: number): Promise<SessionPast>;
  hireChoices(): Promise<HireChoices>;
  abilities(worker: string): Promise<Abilities>;
  devices(): Promise<readonly Device[]>;
  /** What may buzz, on whichever channel. */
  setAttention(settings: AttentionSettings): Promise<Outcome>;
  /** What happened while nobody was there. */
  digest(): Promise<readonly DigestLine[]>;
  push(): Promise<PushState>;
  /** From a tap alone; `why` is `denied` where the person or the browser said no. */
  pushOn(): Promise<Outcome>;
  pushOff(): Promise<Outcome>;
  testPush(): Promise<PushTest>;
  revoke(device: string): Promise<Outcome>;
  pair(code: string, name?: string): Promise<Outcome>;
  /** Whether this page can make or use passkeys. */
  readonly passkeys: boolean;
  /** Makes a passkey with which another browser of the person is paired without a code. */
  addPasskey(): Promise<Outcome>;
  /** Pairs this browser by a passkey that it has. */
  usePasskey(name?: string): Promise<Outcome>;
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
  /** Who else is there right now. */
  readonly here: ReadonlySignal<readonly Somebody[]>;
  readonly outbox: ReadonlySignal<readonly OutboxItem[]>;
  readonly settings: ReadonlySignal<Settings>;
  /** What may buzz, when, and how much of it is shown. */
  readonly attention: ReadonlySignal<AttentionSettings>;
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
