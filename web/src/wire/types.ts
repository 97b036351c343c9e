// All that travels between a node and its clients. Written by scripts/typescript.py from the schema, which is made from
// the words in src/farhand/model: change those, then run `make reference`.
// A field with `?` is left out when it has its default, which stands behind it.

/** The command is written down; `again` says that it had been before and did nothing more. */
export interface Accepted {
  readonly id: string;
  readonly seq: number;
  readonly worker?: string; // ""
  readonly message?: string; // ""
  readonly again?: boolean; // false
}

/** What would be done, to what: the command, the address, the arguments, or the paths; raw and whole. */
export interface Action {
  readonly kind: ActionKind;
  readonly target?: string; // ""
  readonly paths?: readonly string[]; // []
  readonly tool?: string; // ""
  readonly leads?: readonly string[]; // []
}

/** What would be done. */
export type ActionKind = "call" | "delete" | "edit" | "fetch" | "read" | "run" | "write";

/** Add tasks to a sprint that runs. */
export interface AddTasks {
  readonly type: "add_tasks";
  readonly id: string;
  readonly tasks: readonly string[];
  readonly worker?: string; // ""
}

/** Settle an ask with one of its choices, or several with commas between them where it takes several, and advice. */
export interface Answer {
  readonly type: "answer";
  readonly id: string;
  readonly ask: string;
  readonly choice: string;
  readonly note?: string; // ""
}

/** The agent has the answer; `problem` says so when it could not be brought to it. */
export interface AnswerDelivered {
  readonly type: "answer_delivered";
  readonly ask: string;
  readonly problem?: string; // ""
}

/** An ask that is open, or whose answer has not reached the agent yet. */
export interface Ask {
  readonly id: string;
  readonly worker: string;
  readonly turn: string | null;
  readonly seq: number;
  readonly question: string;
  readonly choices: readonly Choice[];
  readonly about?: AskKind; // "permission"
  readonly detail?: string; // ""
  readonly action?: Action | null; // null
  readonly where?: string; // ""
  readonly why?: string; // ""
  readonly risks?: readonly string[]; // []
  readonly question_phrase?: Phrase | null; // null
  readonly risk_phrases?: readonly Phrase[]; // []
  readonly digest?: string; // ""
  readonly deadline?: number | null; // null
  readonly several?: boolean; // false
  readonly settled?: AskSettled | null; // null
}

/** What an ask is about, which decides how a surface words it. */
export type AskKind = "choice" | "folder" | "permission" | "plan";

/** The agent waits for a person. */
export interface AskRaised {
  readonly type: "ask_raised";
  readonly ask: string;
  readonly question: string;
  readonly choices: readonly Choice[];
  readonly about?: AskKind; // "permission"
  readonly detail?: string; // ""
  readonly action?: Action | null; // null
  readonly where?: string; // ""
  readonly why?: string; // ""
  readonly risks?: readonly string[]; // []
  readonly question_phrase?: Phrase | null; // null
  readonly risk_phrases?: readonly Phrase[]; // []
  readonly digest?: string; // ""
  readonly deadline_seconds?: number | null; // null
  readonly several?: boolean; // false
  readonly unasked?: boolean; // false
}

/** The ask is over; the first answer won. */
export interface AskSettled {
  readonly type: "ask_settled";
  readonly ask: string;
  readonly how: HowSettled;
  readonly choice?: string; // ""
  readonly note?: string; // ""
  readonly by?: Sender | null; // null
}

/** One ask as a person sees it, and how it was settled. */
export interface AskView {
  readonly raised: AskRaised;
  readonly settled?: AskSettled | null; // null
  readonly problem?: string; // ""
}

/** A file that travels with a message, by its path on the node's machine. */
export interface Attachment {
  readonly path: string;
  readonly name?: string; // ""
  readonly media_type?: string; // ""
  readonly caption?: string; // ""
}

/** What a person may be told of. */
export type AttentionKind = "ask" | "failed" | "finished" | "limit" | "node" | "offline" | "sprint";

/** The person wants to be buzzed for other things, or at other times. It belongs to no worker. */
export interface AttentionSet {
  readonly type: "attention_set";
  readonly settings: AttentionSettings;
  readonly by: Sender;
}

/** What the person wants to be buzzed for, on whichever channel. */
export interface AttentionSettings {
  readonly off?: readonly AttentionKind[]; // []
  readonly workers?: Readonly<Record<string, readonly AttentionKind[]>>; // {}
  readonly hours?: QuietHours | null; // null
  readonly until?: number; // 0.0
  readonly exceptions?: readonly AttentionKind[]; // []
  readonly zone?: string; // ""
  readonly desk?: boolean; // true
  readonly next_minutes?: number; // 3.0
  readonly again_minutes?: number; // 15.0
  readonly lock_screen?: LockScreen; // "all"
}

/** One kind of agent that can be hired here; `found` says whether its program is on this machine. */
export interface BackendChoice {
  readonly backend: string;
  readonly wires: readonly WireChoice[];
  readonly found?: boolean; // true
  readonly version?: string; // ""
  readonly tested?: string; // ""
  readonly install?: string; // ""
  readonly logged_in?: boolean | null; // null
  readonly how_to_log_in?: string; // ""
  readonly models?: readonly string[]; // []
}

/** The agent runs and can be spoken to. */
export interface CameOnline {
  readonly type: "came_online";
  readonly session?: string; // ""
  readonly adopted?: boolean; // false
  readonly back?: boolean; // false
  readonly incident?: string; // ""
  readonly focus?: string; // ""
  readonly first?: boolean; // false
}

/** What a driver can do; nobody asks what it is called. */
export interface Can {
  readonly interrupt?: boolean; // false
  readonly steer?: boolean; // false
  readonly images?: boolean; // false
  readonly files?: boolean; // false
  readonly models?: boolean; // false
  readonly modes?: readonly string[]; // []
  readonly effort?: readonly string[]; // []
  readonly ids?: boolean; // false
  readonly terminal?: boolean; // false
  readonly sessions?: boolean; // false
  readonly reviews?: boolean; // false
}

/** End a review that runs, and its reviewers with it. */
export interface CancelReview {
  readonly type: "cancel_review";
  readonly id: string;
  readonly review: string;
  readonly worker?: string; // ""
}

/** One file that differs from the last commit: git's letters for the index and for the folder, `?` for unknown. */
export interface ChangedFile {
  readonly path: string;
  readonly index?: string; // ""
  readonly worktree?: string; // ""
  readonly was?: string; // ""
}

/** One answer that an ask offers: what is sent back, and what the button says. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly allows?: boolean; // true
  readonly words?: boolean; // false
  readonly scope?: string; // ""
  readonly mode?: Mode | null; // null
  readonly label_phrase?: Phrase | null; // null
  readonly scope_phrase?: Phrase | null; // null
}

export type ClientFrame = Opening | ViewFrame;

export type Command = Hire | End | Focus | Say | Reword | Steer | Withdraw | Reorder | Answer | Interrupt | Relaunch | Retry | Tune | Sprint | AddTasks | SkipTask | Halt | Review | SendFindings | CancelReview | SetAttention | Respond;

/** The past of one worker, oldest first, and the turn that runs. */
export interface ConversationView {
  readonly entries?: readonly HistoryEntry[]; // []
  readonly open?: TurnEntry | null; // null
}

/** What the turns of one worker used that began on one day of the node's calendar, as far as its agent tells. */
export interface DayUsage {
  readonly day: string;
  readonly worker: string;
  readonly turns: number;
  readonly usage?: Usage; // {}
}

/** A device that was paired. A read-only one sees everything and does nothing. */
export interface Device {
  readonly id: string;
  readonly name: string;
  readonly paired_at: number;
  readonly last_seen?: number; // 0.0
  readonly read_only?: boolean; // false
  readonly came_by?: string; // ""
}

/** Another device of the team that is there right now, what its person calls it, and the worker on its screen. */
export interface DevicePresence {
  readonly device: string;
  readonly name?: string; // ""
  readonly worker?: string; // ""
}

/** One file of a diff; lines are counted where it is text. */
export interface DiffFile {
  readonly path: string;
  readonly how: string;
  readonly was?: string; // ""
  readonly added?: number | null; // null
  readonly removed?: number | null; // null
}

/** One line: so many things of one kind of one worker; `key` names the newest, and leads to it. */
export interface DigestLine {
  readonly kind: AttentionKind;
  readonly key: string;
  readonly at: number;
  readonly count?: number; // 1
  readonly worker?: string; // ""
  readonly text?: string; // ""
  readonly more?: number; // 0
}

/** Nobody can tell whether the message arrived; it is not sent again by itself. */
export interface Doubted {
  readonly type: "doubted";
  readonly message: string;
  readonly why: string;
}

/** Let a worker go, and its agent with it; `hand_back` says how to go on with its conversation at the desk. */
export interface End {
  readonly type: "end";
  readonly id: string;
  readonly worker: string;
  readonly hand_back?: boolean; // false
}

/** Somebody wants the worker gone; its agent is being ended, or its conversation handed back to the desk. */
export interface EndAsked {
  readonly type: "end_asked";
  readonly by: Sender;
  readonly hand_back?: boolean; // false
}

/** The worker left the team and its agent is gone; `resume` is the shell command that goes on at the desk. */
export interface Ended {
  readonly type: "ended";
  readonly resume?: string; // ""
  readonly focus?: string; // ""
}

/** A fact that the journal stamped. */
export interface Event {
  readonly seq: number;
  readonly at: number;
  readonly worker: string;
  readonly fact: Fact;
  readonly turn?: string | null; // null
}

/** Events in order: what has happened, and is written down. */
export interface EventsFrame {
  readonly events: readonly Event[];
}

export type Fact = Hired | EndAsked | Ended | Focused | RelaunchAsked | TuneAsked | Tuned | CameOnline | WentOffline | SessionKnown | Queued | Reworded | Reordered | SteerAsked | SteerBegun | SteerDeclined | Withdrawn | HandedOver | Seen | Doubted | TurnStarted | Said | Thought | ToolStarted | ToolEnded | Showed | Used | AskRaised | AskSettled | AnswerDelivered | InterruptAsked | Interrupted | TurnEnded | Limited | LimitLifted | SprintBegan | SprintMoved | HaltAsked | SprintEnded | ReviewAsked | ReviewMoved | AttentionSet | Responded | Noted;

/** A fact that is of no turn, or that is shown beside its turn. */
export interface FactEntry {
  readonly type: "fact";
  readonly seq: number;
  readonly event: Event;
}

/** A turn that failed, and the message that can be tried again. */
export interface FailedTurn {
  readonly turn: string;
  readonly message: Message;
  readonly past?: boolean; // false
}

/** A file as text, or none when it is not text; `cut` says that there is more of it. */
export interface FileText {
  readonly path: string;
  readonly size: number;
  readonly text?: string | null; // null
  readonly cut?: boolean; // false
}

/** Send what is said without a name to this worker. */
export interface Focus {
  readonly type: "focus";
  readonly id: string;
  readonly worker: string;
}

/** What is said without a name goes to this worker from now on. */
export interface Focused {
  readonly type: "focused";
  readonly by: Sender;
  readonly before?: string; // ""
}

/** One thing in a folder; a link is shown and never followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly size?: number; // 0
  readonly at?: number; // 0.0
}

/** What is in a folder, folders first; `more` says that it is cut. */
export interface FolderListing {
  readonly path: string;
  readonly entries?: readonly FolderEntry[]; // []
  readonly more?: boolean; // false
}

/** A place in the past where all the words that were searched for occur. */
export interface Found {
  readonly worker: string;
  readonly seq: number;
  readonly at: number;
  readonly excerpt?: string; // ""
}

/** One commit. */
export interface GitCommit {
  readonly id: string;
  readonly title: string;
  readonly author?: string; // ""
  readonly at?: number; // 0.0
}

/** How the folder stands to its repository. */
export interface GitStatus {
  readonly branch?: string; // ""
  readonly head?: string; // ""
  readonly upstream?: string; // ""
  readonly ahead?: number; // 0
  readonly behind?: number; // 0
  readonly files?: readonly ChangedFile[]; // []
  readonly more?: boolean; // false
}

/** End a sprint after the turn that runs, or `now`. */
export interface Halt {
  readonly type: "halt";
  readonly id: string;
  readonly worker?: string; // ""
  readonly now?: boolean; // false
}

/** Somebody wants the sprint to end after the turn that runs, or `now`. */
export interface HaltAsked {
  readonly type: "halt_asked";
  readonly by: Sender;
  readonly now?: boolean; // false
}

/** There is proof that the agent's wire took the message. */
export interface HandedOver {
  readonly type: "handed_over";
  readonly message: string;
}

/** Take a worker on; an empty directory means the node's own, and no mode the one that the node is set to. Without a name the worker is called after its folder. Without a backend, the name may begin with one (`<backend>-ann`); else it is the one that the node is set to. `options["wire"]` chooses how its agent is reached: `tmux`, `headless`, or what else its backend has. */
export interface Hire {
  readonly type: "hire";
  readonly id: string;
  readonly worker: string;
  readonly backend?: string; // ""
  readonly directory?: string; // ""
  readonly model?: string; // ""
  readonly mode?: Mode | null; // null
  readonly effort?: string; // ""
  readonly options?: Readonly<Record<string, string>>; // {}
  readonly focus?: boolean; // true
  readonly session?: string; // ""
  readonly anyway?: boolean; // false
}

/** What can be chosen when a worker is hired, and what is taken where nothing is. */
export interface HireChoices {
  readonly backend: string;
  readonly directory: string;
  readonly mode: Mode;
  readonly backends?: readonly BackendChoice[]; // []
  readonly folders?: readonly string[]; // []
}

/** A worker joined the team. */
export interface Hired {
  readonly type: "hired";
  readonly backend: string;
  readonly directory: string;
  readonly model?: string; // ""
  readonly mode?: Mode; // "default"
  readonly effort?: string; // ""
  readonly options?: Readonly<Record<string, string>>; // {}
  readonly session?: string; // ""
  readonly answer?: string; // ""
  readonly note?: string; // ""
  readonly by: Sender;
  readonly aside?: boolean; // false
}

export type HistoryEntry = TurnEntry | FactEntry;

/** Entries of one worker, oldest first, as of event `seq`: what is in them needs no event up to that number. `open` is the turn that runs, on the newest page only; `more` says whether there are older ones. */
export interface HistoryPage {
  readonly seq?: number; // 0
  readonly entries?: readonly HistoryEntry[]; // []
  readonly open?: TurnEntry | null; // null
  readonly more?: boolean; // false
}

/** How a turn came to its end. */
export type HowEnded = "completed" | "failed" | "interrupted" | "lost" | "parked";

/** Who or what put an end to an ask. */
export type HowSettled = "answered" | "desk" | "expired" | "withdrawn";

/** How a sprint came to its end. */
export type HowSprintEnded = "done" | "halted" | "limit" | "stuck";

/** Stop the running turn; overtakes what is queued. */
export interface Interrupt {
  readonly type: "interrupt";
  readonly id: string;
  readonly worker?: string; // ""
  readonly withdraw?: boolean; // false
}

/** Somebody wants the turn to stop. */
export interface InterruptAsked {
  readonly type: "interrupt_asked";
  readonly by: Sender;
}

/** The agent was told to stop, or why it could not be. */
export interface Interrupted {
  readonly type: "interrupted";
  readonly problem?: string; // ""
}

/** What a verdict says; only `approve` passes a gate. */
export type Judgement = "approve" | "changes" | "unsure";

/** The limit is taken to be over: its time has come, or somebody wants to try. What is queued goes on. */
export interface LimitLifted {
  readonly type: "limit_lifted";
  readonly by?: Sender | null; // null
}

/** The agent's usage limit is reached: it can do nothing before `until`, if anybody knows when that is. It comes before the end of the turn that it stopped. What is queued waits until LimitLifted. */
export interface Limited {
  readonly type: "limited";
  readonly text: string;
  readonly until?: number | null; // null
  readonly again?: number; // 0
}

/** How much a notification shows, for it may be read over a shoulder. */
export type LockScreen = "all" | "name" | "nothing";

/** What the person at a client looks at: a worker, and whether the screen is visible at all. */
export interface Looking {
  readonly worker?: string; // ""
  readonly visible?: boolean; // true
}

/** A device wants a branch brought up to what the worker has committed. */
export interface MergeRequest {
  readonly into?: string; // "main"
}

/** A message that waits, or that the running turn began with. */
export interface Message {
  readonly id: string;
  readonly text: string;
  readonly at: number;
  readonly by: Sender;
  readonly attachments?: readonly Attachment[]; // []
  readonly steer?: boolean; // false
  readonly on_its_way?: boolean; // false
}

/** What a worker may do without asking. */
export type Mode = "auto_edit" | "default" | "plan" | "yolo";

/** One event under its adapter's name; several may come of one fact, and then have its number. */
export interface NamedSessionEvent {
  readonly name: "new-messages" | "session-error" | "session-idle" | "session-rekeyed" | "status-update" | "streaming-text" | "thinking" | "tool-done" | "tool-start";
  readonly seq: number;
  readonly at: number;
  readonly worker: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a device is about to send. The id is the sender's: begun twice, it is the same upload. */
export interface NewUpload {
  readonly id: string;
  readonly worker: string;
  readonly name: string;
  readonly size: number;
  readonly media_type?: string; // ""
}

/** Something a person should know that is no part of the answer. */
export interface Noted {
  readonly type: "noted";
  readonly text: string;
  readonly by?: Sender | null; // null
}

/** What has no number and is written nowhere: that the node was there at that time, what a terminal wrote, what an agent is saying, who else is there. */
export interface Now {
  readonly at: number;
  readonly pane?: PanePiece | null; // null
  readonly preview?: TextPreview | null; // null
  readonly presence?: readonly DevicePresence[] | null; // null
}

/** A frame beside the journal; every 20 s there is one. */
export interface NowFrame {
  readonly now: Now;
}

/** The first frame of a client. */
export interface Opening {
  readonly resume?: ResumePoint | null; // null
  readonly view?: Looking | null; // null
  readonly names?: "facts" | "session"; // "facts"
}

/** The device that was made; its key, if it was asked for. */
export interface PairReply {
  readonly device: Device;
  readonly key?: string; // ""
}

/** What a device sends to be paired; a program without a cookie jar asks for its key with `bearer`. */
export interface PairRequest {
  readonly code: string;
  readonly name?: string; // ""
  readonly bearer?: boolean; // false
}

/** What is typed: a text, then keys by their names (Enter, Escape, C-c). A paste is one, whatever is in it. */
export interface PaneInput {
  readonly text?: string; // ""
  readonly keys?: readonly string[]; // []
  readonly paste?: boolean; // false
}

/** What a terminal wrote, in base64. After a `reset` it is the whole screen, and what was shown before is void. */
export interface PanePiece {
  readonly data: string;
  readonly columns?: number; // 0
  readonly rows?: number; // 0
  readonly reset?: boolean; // false
}

/** A passkey that a device has made; it ends with that device. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly site: string;
  readonly device: string;
  readonly made_at: number;
  readonly used_at?: number; // 0.0
}

/** What a browser made, or signed, as it says it itself; and what the passkey or the device shall be called. */
export interface PasskeyRequest {
  readonly credential: unknown;
  readonly name?: string; // ""
}

/** A sentence of the node by its code and what stands in it: a surface may say it in another language. */
export interface Phrase {
  readonly code: string;
  readonly values?: Readonly<Record<string, string>>; // {}
}

/** All that a start needs to know; everything else is history. */
export interface Present {
  readonly seq?: number; // 0
  readonly focus?: string; // ""
  readonly workers?: Readonly<Record<string, Worker>>; // {}
  readonly attention?: AttentionSettings; // {}
}

/** A button of a notification was tapped: one answer to one ask, as it was shown. */
export interface PushAnswer {
  readonly ask: string;
  readonly digest: string;
  readonly choice: string;
  readonly token: string;
}

/** The two keys of a browser's subscription, base64url as browsers write them. */
export interface PushKeys {
  readonly p256dh: string;
  readonly auth: string;
}

/** What became of a test: `ok`, or what went wrong and what to do about it. */
export interface PushTest {
  readonly ok: boolean;
  readonly text: string;
  readonly phrase?: Phrase | null; // null
}

/** A message was written down and waits for its turn. */
export interface Queued {
  readonly type: "queued";
  readonly message: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[]; // []
  readonly steer?: boolean; // false
  readonly by: Sender;
  readonly again?: string; // ""
}

/** From that minute of the day to that one, every day; over midnight where the second is the smaller. */
export interface QuietHours {
  readonly start: number;
  readonly end: number;
}

/** How far a message got. It never claims more than was proven. */
export type Receipt = "answered" | "handed over" | "queued" | "refused" | "seen" | "started" | "unknown" | "withdrawn";

/** Restart a worker's agent and keep its session. */
export interface Relaunch {
  readonly type: "relaunch";
  readonly id: string;
  readonly worker?: string; // ""
}

/** Somebody wants the agent restarted with its memory kept. */
export interface RelaunchAsked {
  readonly type: "relaunch_asked";
  readonly by: Sender;
}

/** An error as it arrives. */
export interface RemoteError {
  readonly code: string;
  readonly text: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Put messages of one worker that still wait into this order; those that are not named keep their places. */
export interface Reorder {
  readonly type: "reorder";
  readonly id: string;
  readonly messages: readonly string[];
}

/** The queue is in this order now. */
export interface Reordered {
  readonly type: "reordered";
  readonly messages: readonly string[];
  readonly by: Sender;
}

/** Pass on what a worker's own program posted as an answer: HTML, or plain text. */
export interface Respond {
  readonly type: "respond";
  readonly id: string;
  readonly worker: string;
  readonly text: string;
  readonly html?: boolean; // true
}

/** A worker's own program posted an answer: HTML, or plain text. */
export interface Responded {
  readonly type: "responded";
  readonly text: string;
  readonly html?: boolean; // true
}

/** Where a client was: the journal that `StreamHello` named, and the last event that it handled. */
export interface ResumePoint {
  readonly journal: string;
  readonly after: number;
}

/** Say again what failed: the message of that turn; without one, of the worker's last turn. While a usage limit holds the worker up, a retry without a turn goes on with what waits. */
export interface Retry {
  readonly type: "retry";
  readonly id: string;
  readonly worker?: string; // ""
  readonly turn?: string; // ""
}

/** Have a worker's work judged by others: backends, or workers whose agents are started anew for it; without any, by another backend than the worker's own. `again` judges anew what an earlier review was about. */
export interface Review {
  readonly type: "review";
  readonly id: string;
  readonly worker?: string; // ""
  readonly scope?: ReviewScope; // "tree"
  readonly by?: readonly string[]; // []
  readonly turn?: string; // ""
  readonly base?: string; // ""
  readonly head?: string; // ""
  readonly note?: string; // ""
  readonly again?: string; // ""
}

/** Somebody wants the worker's work judged by others. */
export interface ReviewAsked {
  readonly type: "review_asked";
  readonly review: ReviewState;
  readonly by: Sender;
}

/** What a verdict is bound to: the commit or tree that the change starts from, the last commit, and the folder's tree, which was judged. */
export interface ReviewBinding {
  readonly base?: string; // ""
  readonly head?: string; // ""
  readonly tree?: string; // ""
}

/** One thing that a reviewer found; line 0 is the whole file. */
export interface ReviewFinding {
  readonly severity: Severity;
  readonly title: string;
  readonly path?: string; // ""
  readonly line?: number; // 0
  readonly detail?: string; // ""
}

/** A review of the worker's work stands otherwise: it began, a verdict came, findings were sent, it is stale. */
export interface ReviewMoved {
  readonly type: "review_moved";
  readonly review: ReviewState;
  readonly ended?: boolean; // false
  readonly by?: Sender | null; // null
}

/** How far a review is: asked for, at work, or over. */
export type ReviewPhase = "asked" | "over" | "working";

/** What is judged: what differs from the last commit, what a turn changed, commits, or an answer. */
export type ReviewScope = "answer" | "commits" | "tree" | "turn";

/** A review as it stands. */
export interface ReviewState {
  readonly id: string;
  readonly number: number;
  readonly reviewers: readonly Reviewer[];
  readonly scope?: ReviewScope; // "tree"
  readonly turn?: string; // ""
  readonly base?: string; // ""
  readonly head?: string; // ""
  readonly note?: string; // ""
  readonly at?: number; // 0.0
  readonly phase?: ReviewPhase; // "asked"
  readonly binding?: ReviewBinding | null; // null
  readonly files?: number; // 0
  readonly added?: number; // 0
  readonly removed?: number; // 0
  readonly problem?: string; // ""
  readonly round?: number; // 1
  readonly follows?: string; // ""
  readonly sent?: readonly string[]; // []
  readonly stale?: boolean; // false
  readonly gate?: string; // ""
}

/** One worker that was hired to judge; `mark` is what its verdict must name. */
export interface Reviewer {
  readonly worker: string;
  readonly backend: string;
  readonly model?: string; // ""
  readonly options?: Readonly<Record<string, string>>; // {}
  readonly mark?: string; // ""
  readonly message?: string; // ""
  readonly phase?: ReviewerPhase; // "working"
  readonly verdict?: Verdict | null; // null
  readonly problem?: string; // ""
}

/** How far one reviewer is. */
export type ReviewerPhase = "done" | "failed" | "working";

/** Change a message that still waits. */
export interface Reword {
  readonly type: "reword";
  readonly id: string;
  readonly message: string;
  readonly text: string;
}

/** A waiting message now says something else. */
export interface Reworded {
  readonly type: "reworded";
  readonly message: string;
  readonly text: string;
  readonly by: Sender;
}

/** A piece of the agent's answer. */
export interface Said {
  readonly type: "said";
  readonly text: string;
}

/** Give a worker a message; without a name, the focused one. One that is offline takes none, unless it is to wait `anyway` until the agent is back. */
export interface Say {
  readonly type: "say";
  readonly id: string;
  readonly text: string;
  readonly worker?: string; // ""
  readonly attachments?: readonly Attachment[]; // []
  readonly steer?: boolean; // false
  readonly anyway?: boolean; // false
}

/** There is proof that the agent itself read the message. */
export interface Seen {
  readonly type: "seen";
  readonly message: string;
}

/** Send findings of a review back to the worker, as one message; without any named, all of them. */
export interface SendFindings {
  readonly type: "send_findings";
  readonly id: string;
  readonly review: string;
  readonly worker?: string; // ""
  readonly findings?: readonly string[]; // []
  readonly note?: string; // ""
}

/** Who speaks, and over which channel. Whoever takes it in stamps it; a sender cannot choose it. */
export interface Sender {
  readonly via: string;
  readonly who?: string; // ""
}

export type ServerFrame = StreamHello | EventsFrame | NowFrame;

/** A conversation that an agent has on this machine, as its own files tell. */
export interface SessionFound {
  readonly id: string;
  readonly directory: string;
  readonly title?: string; // ""
  readonly at?: number; // 0.0
  readonly answer?: string; // ""
  readonly open?: boolean | null; // null
  readonly mode?: string; // ""
  readonly model?: string; // ""
  readonly backend?: string; // ""
  readonly worker?: string; // ""
}

/** What came of the events up to `seq`, which a client resumes after; at times nothing. */
export interface SessionFrame {
  readonly seq: number;
  readonly session_events?: readonly NamedSessionEvent[]; // []
}

/** The agent's own conversation has this id now. */
export interface SessionKnown {
  readonly type: "session_known";
  readonly session: string;
}

/** Say anew what may buzz, when, and how much of it is shown. */
export interface SetAttention {
  readonly type: "set_attention";
  readonly id: string;
  readonly settings: AttentionSettings;
}

/** How much a finding matters: P0 must not be shipped at all, P3 is a matter of taste. */
export type Severity = "P0" | "P1" | "P2" | "P3";

/** The agent shows a file. */
export interface Showed {
  readonly type: "showed";
  readonly file: Attachment;
}

/** What a page inside of a chat's own app sends to be paired: what the chat vouches with for who opened it. */
export interface SignInRequest {
  readonly channel: string;
  readonly proof: string;
  readonly name?: string; // ""
  readonly bearer?: boolean; // false
}

/** Go on with the next task of a sprint. */
export interface SkipTask {
  readonly type: "skip_task";
  readonly id: string;
  readonly worker?: string; // ""
}

/** What a worker has used since its hiring: all turns before, and the last one that told of itself. */
export interface Spent {
  readonly before?: Usage; // {}
  readonly turn?: string; // ""
  readonly of_turn?: Usage; // {}
}

/** Let a worker do tasks one after the other by itself; without tasks, those of its own plan. `verifier` is a shell command that must succeed in the worker's folder before a task is done: what it prints when it fails is the next prompt. */
export interface Sprint {
  readonly type: "sprint";
  readonly id: string;
  readonly worker?: string; // ""
  readonly tasks?: readonly string[]; // []
  readonly verifier?: string; // ""
  readonly commits?: boolean; // true
  readonly limits?: SprintLimits; // {}
  readonly review?: readonly string[]; // []
  readonly file?: string; // ""
}

/** The worker does tasks one after the other by itself from now on. */
export interface SprintBegan {
  readonly type: "sprint_began";
  readonly sprint: SprintState;
  readonly by: Sender;
}

/** The sprint is over; `sprint` has what became of its tasks. */
export interface SprintEnded {
  readonly type: "sprint_ended";
  readonly sprint: SprintState;
  readonly how: HowSprintEnded;
  readonly why?: string; // ""
  readonly usage?: Usage; // {}
}

/** Where a sprint ends although it is not done; 0 is no limit. */
export interface SprintLimits {
  readonly tasks?: number; // 20
  readonly rounds?: number; // 3
  readonly minutes?: number; // 240.0
  readonly tokens?: number; // 0
  readonly dollars?: number; // 0.0
  readonly context?: number; // 0
}

/** The sprint stands otherwise: a prompt was given, a turn or a check is over, a task was added or skipped. */
export interface SprintMoved {
  readonly type: "sprint_moved";
  readonly sprint: SprintState;
  readonly usage?: Usage; // {}
  readonly by?: Sender | null; // null
}

/** What became of one task. */
export interface SprintOutcome {
  readonly task: string;
  readonly done: boolean;
  readonly rounds?: number; // 1
  readonly commit?: string; // ""
  readonly why?: string; // ""
}

/** What comes next: a prompt for the worker, the end of its turn, the check of what it did, or the verdict on it. */
export type SprintPhase = "check" | "prompt" | "review" | "turn";

/** A sprint as it stands. Without tasks it follows the agent's own plan. */
export interface SprintState {
  readonly id: string;
  readonly began: number;
  readonly tasks?: readonly string[]; // []
  readonly verifier?: string; // ""
  readonly commits?: boolean; // true
  readonly limits?: SprintLimits; // {}
  readonly phase?: SprintPhase; // "prompt"
  readonly review?: readonly string[]; // []
  readonly approved?: string; // ""
  readonly reviewing?: string; // ""
  readonly reviews?: number; // 0
  readonly at?: number; // 0
  readonly round?: number; // 1
  readonly failures?: number; // 0
  readonly trouble?: string; // ""
  readonly message?: string; // ""
  readonly said?: string; // ""
  readonly repeated?: boolean; // false
  readonly outcomes?: readonly SprintOutcome[]; // []
  readonly before?: Usage; // {}
  readonly halting?: boolean; // false
  readonly halting_now?: boolean; // false
  readonly context?: number; // 0
  readonly warned?: boolean; // false
}

/** Put a message that still waits into the running turn, where the agent can. */
export interface Steer {
  readonly type: "steer";
  readonly id: string;
  readonly message: string;
}

/** A message that waits shall go into the running turn, if the agent takes it there. */
export interface SteerAsked {
  readonly type: "steer_asked";
  readonly message: string;
  readonly by: Sender;
}

/** A message is being put into the running turn over a wire without ids: after a kill nobody could tell. */
export interface SteerBegun {
  readonly type: "steer_begun";
  readonly message: string;
}

/** The running turn did not take the message; it waits for a turn of its own. */
export interface SteerDeclined {
  readonly type: "steer_declined";
  readonly message: string;
  readonly why?: string; // ""
}

/** The first frame of a node. After `whole` every event that the client missed follows; after `gap` only new ones do: it reads the present and the history, and drops events up to the number that those name. */
export interface StreamHello {
  readonly hello: 1;
  readonly journal: string;
  readonly first: number;
  readonly seq: number;
  readonly resume: "gap" | "whole";
  readonly build: string;
}

/** What a browser knows of its subscription, and where its app is. */
export interface SubscribeRequest {
  readonly endpoint: string;
  readonly keys: PushKeys;
  readonly origin: string;
  readonly language?: string; // ""
}

/** What is known of a team after the event that `present.seq` names. */
export interface TeamView {
  readonly present?: Present; // {}
  readonly conversations?: Readonly<Record<string, ConversationView>>; // {}
  readonly receipts?: Readonly<Record<string, Receipt>>; // {}
}

/** The newest words of a running turn as its screen shows them; empty once the journal has them. */
export interface TextPreview {
  readonly worker: string;
  readonly turn: string;
  readonly text?: string; // ""
}

/** A piece of the agent's thinking. */
export interface Thought {
  readonly type: "thought";
  readonly text: string;
}

/** A tool came back. */
export interface ToolEnded {
  readonly type: "tool_ended";
  readonly call: string;
  readonly ok?: boolean; // true
  readonly output?: string; // ""
}

/** The agent uses a tool. */
export interface ToolStarted {
  readonly type: "tool_started";
  readonly call: string;
  readonly tool: string;
  readonly title: string;
  readonly detail?: string; // ""
}

/** One tool call as a person sees it. */
export interface ToolView {
  readonly call: string;
  readonly tool: string;
  readonly title: string;
  readonly started_at: number;
  readonly detail?: string; // ""
  readonly ok?: boolean | null; // null
  readonly output?: string; // ""
}

/** Change a worker's model, mode or effort. */
export interface Tune {
  readonly type: "tune";
  readonly id: string;
  readonly worker?: string; // ""
  readonly model?: string | null; // null
  readonly mode?: Mode | null; // null
  readonly effort?: string | null; // null
}

/** Somebody wants another model, mode or effort. */
export interface TuneAsked {
  readonly type: "tune_asked";
  readonly model?: string | null; // null
  readonly mode?: Mode | null; // null
  readonly effort?: string | null; // null
  readonly by: Sender;
}

/** The agent took the change, or said why it cannot. */
export interface Tuned {
  readonly type: "tuned";
  readonly model?: string | null; // null
  readonly mode?: Mode | null; // null
  readonly effort?: string | null; // null
  readonly refused?: string; // ""
}

/** The running turn of a worker. */
export interface Turn {
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly message?: Message | null; // null
  readonly handed_over?: boolean; // false
  readonly doubted?: boolean; // false
  readonly interrupt_asked?: number; // 0
  readonly interrupted?: boolean; // false
  readonly acted?: boolean; // false
  readonly limited?: boolean; // false
}

/** The turn is over. */
export interface TurnEnded {
  readonly type: "turn_ended";
  readonly how: HowEnded;
  readonly error?: string; // ""
  readonly usage?: Usage | null; // null
  readonly advice?: string; // ""
  readonly advice_phrase?: Phrase | null; // null
  readonly can_retry?: boolean; // false
}

/** A turn and what people said to it: its first message, then those that joined it while it ran. */
export interface TurnEntry {
  readonly type: "turn";
  readonly seq: number;
  readonly view: TurnView;
  readonly messages?: readonly Message[]; // []
}

/** A turn began: with a message, or at the desk when there is none. */
export interface TurnStarted {
  readonly type: "turn_started";
  readonly message?: string | null; // null
  readonly text?: string; // ""
  readonly joined?: string | null; // null
}

/** One turn, from its first fact to its last. */
export interface TurnView {
  readonly worker: string;
  readonly turn: string;
  readonly started_at: number;
  readonly message?: string | null; // null
  readonly typed?: string; // ""
  readonly seq?: number; // 0
  readonly text?: string; // ""
  readonly after_tool?: boolean; // false
  readonly thought?: string; // ""
  readonly tools?: readonly ToolView[]; // []
  readonly asks?: readonly AskView[]; // []
  readonly files?: readonly Attachment[]; // []
  readonly notes?: readonly string[]; // []
  readonly handed_over?: boolean; // false
  readonly doubted?: string; // ""
  readonly usage?: Usage | null; // null
  readonly ended?: TurnEnded | null; // null
  readonly ended_at?: number | null; // null
}

/** How far an upload came: send on from `offset`, at most `chunk` bytes at once. When all is there, the attachment for a `Say` to that worker. */
export interface UploadState {
  readonly id: string;
  readonly offset: number;
  readonly size: number;
  readonly chunk?: number; // 1048576
  readonly attachment?: Attachment | null; // null
}

/** What a turn cost, as far as the agent tells. */
export interface Usage {
  readonly input_tokens?: number; // 0
  readonly output_tokens?: number; // 0
  readonly cost_dollars?: number | null; // null
  readonly context_tokens?: number; // 0
  readonly context_window?: number; // 0
  readonly windows?: readonly UsageWindow[]; // []
}

/** How much of what an account may use in a span of time is used, in percent, and when the span begins anew. */
export interface UsageWindow {
  readonly name: string;
  readonly used_percent: number;
  readonly resets_at?: number | null; // null
}

/** What the turn has cost so far. */
export interface Used {
  readonly type: "used";
  readonly usage: Usage;
}

/** What a reviewer says of the work. `text` is its answer, where that could not be read as a verdict. */
export interface Verdict {
  readonly judgement: Judgement;
  readonly summary?: string; // ""
  readonly confidence?: number | null; // null
  readonly findings?: readonly ReviewFinding[]; // []
  readonly text?: string; // ""
}

/** What a client sends on every change of screen or visibility. */
export interface ViewFrame {
  readonly view: Looking;
}

/** What a device is told: whether it may send recordings, and whether their text is to be read before it is sent. */
export interface VoiceState {
  readonly ready: boolean;
  readonly confirm: boolean;
  readonly largest_bytes: number;
  readonly why: string;
}

/** What was said in a recording; empty when nothing was. */
export interface VoiceTranscript {
  readonly text: string;
}

/** The agent is gone; what is queued waits. */
export interface WentOffline {
  readonly type: "went_offline";
  readonly why: string;
  readonly why_phrase?: Phrase | null; // null
  readonly asked?: boolean; // false
  readonly final?: boolean; // true
  readonly incident?: string; // ""
  readonly again?: boolean; // false
  readonly in_turn?: boolean; // false
  readonly starting?: number; // 0
  readonly focus?: string; // ""
}

/** One way in which an agent can be reached; the first of a backend is the usual one. */
export interface WireChoice {
  readonly wire: string;
  readonly can: Can;
  readonly modes?: readonly Mode[]; // []
}

/** Take back a message that still waits. */
export interface Withdraw {
  readonly type: "withdraw";
  readonly id: string;
  readonly message: string;
}

/** A waiting message was taken back. */
export interface Withdrawn {
  readonly type: "withdrawn";
  readonly message: string;
  readonly by: Sender;
}

/** What changed between two trees, and the patch of it; `cut` says that the patch is not whole. */
export interface WorkdirDiff {
  readonly base: string;
  readonly head: string;
  readonly files?: readonly DiffFile[]; // []
  readonly patch?: string; // ""
  readonly cut?: boolean; // false
  readonly running?: boolean; // false
}

/** One worker as it is now. `since` is the seq of its hiring, so that a name used again is somebody else. */
export interface Worker {
  readonly name: string;
  readonly since: number;
  readonly backend: string;
  readonly directory: string;
  readonly model?: string; // ""
  readonly mode?: Mode; // "default"
  readonly effort?: string; // ""
  readonly options?: Readonly<Record<string, string>>; // {}
  readonly session?: string; // ""
  readonly online?: boolean; // false
  readonly why_offline?: string; // ""
  readonly why_offline_phrase?: Phrase | null; // null
  readonly ending?: boolean; // false
  readonly handing_back?: boolean; // false
  readonly relaunching?: boolean; // false
  readonly tuning?: TuneAsked | null; // null
  readonly turn?: Turn | null; // null
  readonly queue?: readonly Message[]; // []
  readonly steering?: readonly Message[]; // []
  readonly asks?: readonly Ask[]; // []
  readonly limited?: Limited | null; // null
  readonly limits?: number; // 0
  readonly resumes_at?: number | null; // null
  readonly spent?: Spent; // {}
  readonly sprint?: SprintState | null; // null
  readonly stuck?: string; // ""
  readonly reviews?: readonly ReviewState[]; // []
  readonly failed?: readonly FailedTurn[]; // []
}

/** What one worker's agent can do; an empty list where nobody knows. */
export interface WorkerAbilities {
  readonly worker: string;
  readonly backend: string;
  readonly wire: string;
  readonly can: Can;
  readonly pane?: boolean; // false
  readonly models?: readonly string[]; // []
  readonly modes?: readonly Mode[]; // []
  readonly effort?: readonly string[]; // []
  readonly context_window?: number | null; // null
}
