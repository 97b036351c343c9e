/** The app's state, from this device and from the node: what was kept is shown at once, then the live wire brings it up to date. */

import { batch, computed, effect, signal } from "@preact/signals";
import { language } from "../../texts";
import { WireDialler } from "../../wire/dial";
import { type Fetch, NodeApi } from "../../wire/http";
import { browserTimers, Link, type Timers } from "../../wire/link";
import type * as wire from "../../wire/types";
import { readSettings } from "../settings";
import type {
  App,
  Attachment,
  AttentionSettings,
  Device,
  OpenAsk,
  OutboxItem,
  PaneWatch,
  PaneWatcher,
  Settings,
  Toast,
  Worker,
} from "../types";
import { LiveActions } from "./actions";
import { ConnectionView } from "./connection";
import { Conversations, type OpenConversation } from "./conversations";
import { type Kept, type KeptDevice, PhoneDatabase } from "./database";
import { LastWords } from "./last-words";
import { Outbox } from "./outbox";
import { paneLink } from "./pane";
import { Pictures } from "./pictures";
import { Presence } from "./presence";
import { DevicePush, isPhoneOfApple } from "./push";
import { equalFields, rowsOf } from "./rows";
import { teamOf } from "./team";
import { TeamState } from "./team-state";
import { ulid } from "./ulid";
import { AppUpdates } from "./updates";

const PAGE = 60;
const FIRST_PAGE = 30;
const KEEP_MILLISECONDS = 1_000;
/** The node forgets after 45 s what a device looks at. */
const TELL_MILLISECONDS = 25_000;
const OUTBOX_PAUSE_MILLISECONDS = 5_000;
const NOTHING_SET: AttentionSettings = {};

/** What the app has of its surroundings; a test hands in its own. */
export interface Surroundings {
  readonly fetch: Fetch;
  /** Opens a WebSocket to the node; null where there is none. */
  readonly connect: (() => WebSocket) | null;
  readonly timers: Timers;
  /** Calls back before the next picture is drawn. */
  readonly onFrame: (call: () => void) => void;
  readonly isVisible: () => boolean;
  readonly database: PhoneDatabase;
}

export class LiveApp implements App {
  readonly clock = signal(Date.now() / 1000);
  readonly settings = signal<Settings>(readSettings(null));
  readonly attention = signal<AttentionSettings>({});
  readonly toasts = signal<readonly Toast[]>([]);
  readonly device = signal<Device | null>(null);
  readonly team = signal<readonly Worker[] | null>(null);
  readonly asks = computed<readonly OpenAsk[]>(() =>
    (this.team.value ?? []).flatMap((worker) => worker.asks).sort((one, other) => one.raisedAt - other.raisedAt),
  );
  readonly outbox = signal<readonly OutboxItem[]>([]);
  readonly updates = new AppUpdates();
  readonly updateReady = this.updates.ready;
  readonly connection;
  readonly actions: LiveActions;

  readonly api: NodeApi;
  readonly push: DevicePush;
  readonly parcels: Outbox;
  readonly pictures: Pictures;
  readonly conversations: Conversations;
  readonly state: TeamState;
  readonly link: Link;
  /** The terminals that are looked at. */
  private readonly panes = new Set<Link>();
  private readonly dialler: WireDialler;
  private readonly around: Surroundings;
  private readonly view: ConnectionView;
  private readonly reads: Map<string, number>;
  private readonly answered = new Set<string>();
  private looked = "";
  private events: wire.Event[] = [];
  private readonly presence = new Presence();
  readonly here = this.presence.here;
  private readonly previews = new Map<string, wire.TextPreview>();
  private isDrawing = false;
  private isKeeping = false;
  private build = "";
  private toldAt = 0;
  private told: wire.Looking = {};

  constructor(kept: Kept, around: Surroundings) {
    this.around = around;
    this.api = new NodeApi(around.fetch);
    this.push = new DevicePush(this.api, () => language.peek(), {
      get: () => this.settings.peek().push,
      set: (push) => this.actions.set({ push }),
    });
    this.view = new ConnectionView(around.timers);
    this.connection = this.view.state;
    this.settings.value = readSettings(kept.settings);
    this.state = new TeamState(kept);
    this.reads = new Map(kept.reads);
    this.pictures = new Pictures(kept.pictures, around.database, this.api, () => this.draw());
    this.parcels = new Outbox(kept.outbox, around.database, this.api, {
      prepared: (parcel) => this.pictures.brought(parcel),
      delivered: (parcel) => this.pictures.forget(parcel.pictures),
      changed: () => this.draw(),
      refused: (parcel) => this.toast("error", parcel.why),
      stranger: () => this.view.unpaired(),
      unreachable: () => around.timers.after(OUTBOX_PAUSE_MILLISECONDS, () => void this.parcels.flush()),
    });
    this.conversations = new Conversations(kept.drafts, around.database, (ids) => this.pictures.of(ids));
    this.actions = new LiveActions(this);
    this.dialler = new WireDialler(around.fetch, around.connect, around.timers);
    this.link = new Link(
      this.dialler.dial,
      {
        opening: () => this.opening(),
        frame: (frame) => this.frame(frame),
        opened: () => this.tellChange(),
        lost: (failure, pause) => {
          this.view.lost(failure, pause);
          this.presence.lost();
          if (failure.kind === "stranger") {
            void this.forgetNode();
          }
        },
      },
      around.timers,
    );
    if (kept.device !== null) {
      this.isDevice(kept.device);
    }
    this.drawNow();
  }

  get database(): PhoneDatabase {
    return this.around.database;
  }

  get via(): string {
    return this.device.value ? `web-${this.device.value.id}` : "";
  }

  /** Dials until the node answers that it does not know this device. */
  dial(): void {
    this.view.starting();
    void this.link.run();
  }

  /** What this device is called; before that is known nothing is sent. */
  isDevice(device: KeptDevice): void {
    this.device.value = { ...device, lastSeen: Date.now() / 1000, me: true };
    void this.parcels.speakAs(this.via).then(() => this.parcels.flush());
  }

  conversation(worker: string): OpenConversation {
    const { conversation, isNew } = this.conversations.get(worker);
    if (isNew) {
      this.drawConversation(conversation);
      if (!this.state.logs.has(worker) && this.state.known) {
        void this.load(conversation);
      }
    }
    return conversation;
  }

  fileUrl(worker: string, file: Attachment): string {
    return `/api/workers/${encodeURIComponent(worker)}/shown?path=${encodeURIComponent(file.path)}`;
  }

  get fetch(): Fetch {
    return this.around.fetch;
  }

  watchPane(worker: string, watcher: PaneWatcher): PaneWatch {
    const link = paneLink(this.around.fetch, this.around.timers, worker, watcher);
    this.panes.add(link);
    void link.run();
    return {
      again: () => link.wake(),
      stop: () => {
        this.panes.delete(link);
        link.stop();
      },
    };
  }

  look(worker: string): void {
    this.looked = worker;
    this.tellView();
    this.markRead();
    this.draw();
  }

  toast(kind: Toast["kind"], text: string): void {
    this.toasts.value = [...this.toasts.value, { id: ulid(), kind, text }].slice(-5);
  }

  answering(ask: string): void {
    this.answered.add(ask);
    this.draw();
  }

  isUnpaired(): void {
    this.view.unpaired();
  }

  /** A device that is not known any more keeps nothing of the node; what was written on it and not sent stays. */
  private async forgetNode(): Promise<void> {
    this.state.forget();
    this.device.value = null;
    this.conversations.clear();
    await this.database.forgetNode();
    this.drawNow();
  }

  async forget(): Promise<void> {
    this.link.stop();
    for (const parcel of this.parcels.all) {
      await this.parcels.drop(parcel.id);
    }
    this.state.forget();
    this.device.value = null;
    this.conversations.clear();
    this.conversations.dropDrafts();
    await this.database.forget();
    this.view.unpaired();
    this.drawNow();
  }

  /* --- the wire */

  private opening(): wire.Opening {
    const { cursor } = this.state;
    this.told = this.looking();
    return {
      ...(cursor ? { resume: { journal: cursor.journal, after: cursor.after } } : {}),
      view: this.told,
    };
  }

  private looking(): wire.Looking {
    return { worker: this.looked, visible: this.around.isVisible() };
  }

  /** The node asks nobody to come who is here already. */
  tellView(): void {
    if (this.connection.peek().link === "live") {
      this.toldAt = this.around.timers.now();
      this.told = this.looking();
      this.dialler.tell(this.told);
    }
  }

  /** What changed while a connection opened: its opening still said the old. */
  private tellChange(): void {
    const { worker, visible } = this.looking();
    if (worker !== this.told.worker || visible !== this.told.visible) {
      this.tellView();
    }
  }

  private async frame(frame: wire.ServerFrame): Promise<void> {
    if ("hello" in frame) {
      await this.hello(frame);
    } else if ("events" in frame) {
      this.events.push(...frame.events);
      this.draw();
    } else if ("now" in frame && frame.now.presence) {
      this.presence.told(frame.now.presence, Date.now() / 1000);
    } else if ("now" in frame && frame.now.preview) {
      this.previews.set(frame.now.preview.worker, frame.now.preview);
      this.draw();
    }
  }

  private async hello(hello: wire.StreamHello): Promise<void> {
    // What was heard over the last connection belongs before all that this one brings.
    this.takeEvents();
    if (this.device.value === null) {
      await this.actions.whoAmI();
    }
    if (hello.resume === "gap" || this.state.cursor === null) {
      await this.loadAll(hello.journal);
    } else {
      this.state.cursor = { journal: hello.journal, after: this.state.cursor.after };
    }
    if (this.build !== "" && hello.build !== this.build) {
      this.updates.check();
    }
    this.build = hello.build ?? "";
    this.view.opened();
    this.drawNow();
    this.keepSoon();
    void this.parcels.flush();
  }

  /** The present and the newest page of everybody: what a new client and one after a gap begin with. */
  private async loadAll(journal: string): Promise<void> {
    const { present } = await this.api.get<{ present: wire.Present }>("/api/hub/present");
    // Side by side: over a thin network the round trips are what takes long.
    const names = Object.keys(present.workers ?? {});
    const read = await Promise.all(names.map((worker) => this.page(worker, FIRST_PAGE)));
    const pages = new Map(read.map((page, place) => [names[place] ?? "", page] as const));
    this.state.reset({ journal, after: present.seq ?? 0 }, present, pages);
    for (const [worker, log] of this.state.logs) {
      if (!this.reads.has(worker)) {
        this.reads.set(worker, log.seq);
      }
    }
    for (const parcel of this.parcels.all.filter((one) => one.state === "accepted")) {
      await this.parcels.drop(parcel.id);
    }
    for (const conversation of this.conversations.all()) {
      if (!this.state.logs.has(conversation.worker)) {
        await this.load(conversation);
      }
    }
  }

  private async page(worker: string, limit: number, before?: number): Promise<wire.HistoryPage> {
    const { history } = await this.api.get<{ history: wire.HistoryPage }>("/api/hub/history", {
      worker,
      limit,
      before,
    });
    return history;
  }

  private async load(conversation: OpenConversation): Promise<void> {
    try {
      this.state.addPage(conversation.worker, await this.page(conversation.worker, FIRST_PAGE));
      this.drawConversation(conversation);
    } catch (error) {
      conversation.problem.value = error instanceof Error ? error.message : String(error);
      conversation.status.value = "failed";
    }
  }

  async loadOlder(worker: string): Promise<void> {
    const conversation = this.conversation(worker);
    const log = this.state.logs.get(worker);
    const before = log?.entries[0]?.seq;
    if (conversation.loadingOlder.value || !log?.more || before === undefined) {
      return;
    }
    conversation.loadingOlder.value = true;
    try {
      this.state.addOlder(worker, await this.page(worker, PAGE, before));
    } catch (error) {
      conversation.problem.value = error instanceof Error ? error.message : String(error);
    }
    batch(() => {
      this.drawConversation(conversation);
      conversation.loadingOlder.value = false;
    });
  }

  /* --- what is shown */

  /** Soon, once for all that comes until then. */
  draw(): void {
    if (!this.isDrawing) {
      this.isDrawing = true;
      this.around.onFrame(() => {
        this.isDrawing = false;
        this.drawNow();
      });
    }
  }

  private takeEvents(): void {
    if (this.events.length > 0) {
      this.presence.heard(this.events, Date.now() / 1000);
      const shown = this.state.take(this.events);
      this.events = [];
      void this.parcels.shown(shown);
      this.markRead();
      this.keepSoon();
    }
  }

  drawNow(): void {
    batch(() => {
      this.takeEvents();
      this.drawTeam();
      this.outbox.value = this.parcels.all.filter((one) => one.state !== "accepted").map(outboxItem);
      for (const conversation of this.conversations.all()) {
        this.drawConversation(conversation);
      }
    });
  }

  private drawTeam(): void {
    if (!this.state.known) {
      this.team.value = null;
      return;
    }
    this.attention.value = this.state.present.attention ?? NOTHING_SET;
    const answering = new Set([
      ...this.answered,
      ...this.parcels.all.flatMap((one) => (one.command.type === "answer" ? [one.command.ask] : [])),
    ]);
    const team = teamOf({
      present: this.state.present,
      logs: this.state.logs,
      reads: this.reads,
      answering,
      raisedAt: this.state.raisedAt,
      now: this.clock.peek(),
    });
    const open = new Set(team.flatMap((worker) => worker.asks.map((ask) => ask.id)));
    for (const ask of this.answered) {
      if (!open.has(ask)) {
        this.answered.delete(ask);
      }
    }
    const before = new Map((this.team.peek() ?? []).map((worker) => [worker.name, worker]));
    this.team.value = team.map((worker) => sameWorker(before.get(worker.name), worker));
  }

  private drawConversation(conversation: OpenConversation): void {
    const { worker, rows, status, more } = conversation;
    const log = this.state.logs.get(worker);
    if (log === undefined) {
      if (
        this.connection.peek().link === "live" &&
        status.peek() !== "failed" &&
        !this.state.present.workers?.[worker]
      ) {
        status.value = "loading";
      }
      return;
    }
    rows.value = rowsOf(
      {
        log,
        queue: this.state.present.workers?.[worker]?.queue ?? [],
        receipts: this.state.receipts,
        parcels: this.parcels.all.filter((one) => one.worker === worker && one.command.type === "say"),
        pictures: (ids) => this.pictures.of(ids),
        via: this.via,
        preview: this.previews.get(worker),
      },
      rows.peek(),
    );
    more.value = log.more;
    status.value = this.connection.peek().link === "live" ? "ready" : "cached";
  }

  private markRead(): void {
    const log = this.state.logs.get(this.looked);
    if (log && this.around.isVisible() && (this.reads.get(this.looked) ?? 0) < log.seq) {
      this.reads.set(this.looked, log.seq);
      void this.database.keepRead(this.looked, log.seq);
    }
  }

  tick(): void {
    this.clock.value = Date.now() / 1000;
    this.presence.look(this.clock.value);
    if (this.around.timers.now() - this.toldAt >= TELL_MILLISECONDS) {
      this.tellView();
    }
    const limited = (this.team.peek() ?? []).some((worker) => worker.state === "limited");
    if (limited) {
      this.draw();
    }
  }

  /** The app comes to the front: what is shown is looked at, and the connection is tried. */
  woke(): void {
    this.markRead();
    this.link.wake();
    for (const pane of this.panes) {
      pane.wake();
    }
    void this.parcels.flush();
    this.draw();
  }

  /* --- what is kept */

  private keepSoon(): void {
    if (!this.isKeeping) {
      this.isKeeping = true;
      this.around.timers.after(KEEP_MILLISECONDS, () => void this.keep());
    }
  }

  /** The cursor with all that was folded up to it. */
  async keep(isLast = false): Promise<void> {
    this.isKeeping = false;
    const { cursor, present, logs, changed } = this.state;
    // Of several windows only the one that is seen writes: each has all that changed since it last did.
    if (cursor === null || !(this.around.isVisible() || isLast)) {
      return;
    }
    const kept = new Map(
      [...changed].flatMap((worker) => (logs.has(worker) ? [[worker, logs.get(worker)] as const] : [])),
    );
    changed.clear();
    await this.database.keepState(cursor, present, kept as Map<string, NonNullable<ReturnType<typeof logs.get>>>);
  }

  async keepAll(): Promise<void> {
    await Promise.all([this.keep(true), this.conversations.saveDrafts()]);
  }
}

function outboxItem(parcel: Outbox["all"][number]): OutboxItem {
  const { command } = parcel;
  return {
    id: parcel.id,
    worker: parcel.worker,
    what: command.type as OutboxItem["what"],
    text: "text" in command ? command.text : "note" in command ? (command.note ?? "") : "",
    at: parcel.at,
    state:
      parcel.state === "refused" || parcel.state === "doubted" ? "refused" : parcel.via === "" ? "waiting" : "sending",
    why: parcel.why,
  };
}

function sameWorker(before: Worker | undefined, worker: Worker): Worker {
  if (before === undefined) {
    return worker;
  }
  const usage = equalFields(before.usage, worker.usage) ? before.usage : worker.usage;
  const asks = same(before.asks, worker.asks);
  const queue = same(before.queue, worker.queue);
  const next = { ...worker, usage, asks, queue };
  return equalFields(before, next) ? before : next;
}

function same<T extends object>(before: readonly T[], after: readonly T[]): readonly T[] {
  const is =
    before.length === after.length &&
    before.every((one, place) => after[place] !== undefined && equalFields(one, after[place]));
  return is ? before : after;
}

/** Opens the app in this browser: what was kept first, then the node. */
export async function openApp(): Promise<App> {
  const database = await PhoneDatabase.open(undefined, new LastWords(browserStore()));
  const kept = await database.read();
  const app = new LiveApp(kept, {
    fetch: (address, options) => fetch(address, options),
    connect: () => new WebSocket(`${location.origin.replace(/^http/, "ws")}/api/hub/socket`, "farhand.1"),
    timers: browserTimers,
    onFrame: (call) => (document.visibilityState === "visible" ? requestAnimationFrame(call) : setTimeout(call, 100)),
    isVisible: () => document.visibilityState === "visible",
    database,
  });
  listen(app);
  await app.actions.pairByLink();
  app.dial();
  // The service worker fetches the whole app once more: after the first picture is drawn.
  whenIdle(() => void app.updates.start().then(() => app.push.renew()));
  followNotifications(app);
  void navigator.storage?.persist?.();
  return app;
}

/** The store that is written at once; none where the person forbids it. */
function browserStore(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

function whenIdle(call: () => void): void {
  // Safari has no requestIdleCallback.
  if (typeof requestIdleCallback === "function") requestIdleCallback(call, { timeout: 4_000 });
  else setTimeout(call, 2_000);
}

function listen(app: LiveApp): void {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") {
      app.woke();
    } else {
      app.tellView();
      void app.keepAll();
    }
  });
  window.addEventListener("pageshow", (event) => event.persisted && app.woke());
  window.addEventListener("pagehide", () => void app.keepAll());
  window.addEventListener("online", () => app.woke());
  setInterval(() => document.visibilityState === "visible" && app.tick(), 1000);
}

/** The badge and the notifications follow what waits; a tap on one leads to its page in the app that is open. */
function followNotifications(app: LiveApp): void {
  effect(() => {
    if (app.team.value !== null) void app.push.follow(app.asks.value);
  });
  navigator.serviceWorker?.addEventListener("message", (event: MessageEvent<{ open?: string }>) => {
    const address = event.data?.open;
    if (address && new URL(address).origin === location.origin) location.hash = new URL(address).hash;
  });
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") hiddenAt = Date.now() / 1000;
    else if (isPhoneOfApple()) showNewest(app, hiddenAt);
  });
}

/** The newest question that came while nobody looked, where the phone does not say which notification was tapped. */
function showNewest(app: LiveApp, since: number): void {
  const came = app.asks.peek().filter((ask) => ask.raisedAt > since);
  const newest = came[came.length - 1];
  if (newest && !location.hash.includes("!")) {
    location.hash = `#/w/${encodeURIComponent(newest.worker)}!${encodeURIComponent(`ask:${newest.id}`)}`;
  }
}
