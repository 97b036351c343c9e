/** What a person does: commands for now, commands that may wait on the phone, and what concerns this device alone. */

import { NodeFailure } from "../../wire/http";
import { fromPage } from "../../wire/log";
import type * as wire from "../../wire/types";
import type {
  Abilities,
  Actions,
  AttentionSettings,
  Changes,
  Device,
  DigestLine,
  FileText,
  FolderListing,
  Found,
  HireChoices,
  HireRequest,
  Mode,
  Outcome,
  PaneInput,
  PaneWatch,
  PaneWatcher,
  PushState,
  PushTest,
  ReviewRequest,
  SessionFound,
  SessionPast,
  Settings,
} from "../types";
import type { LiveApp } from "./app";
import type { Parcel } from "./database";
import { deviceName } from "./device-name";
import { typeInto } from "./pane";
import { type CreationOptions, canUsePasskeys, makePasskey, provePasskey, type RequestOptions } from "./passkeys";
import { keyOf, rowsOf } from "./rows";
import { sprintActions } from "./sprint-actions";
import { ulid } from "./ulid";
import { VoiceNotes } from "./voice-notes";

const DONE: Outcome = { ok: true };
/** How often a command for now is sent while the node cannot be reached. */
const TRIES = 3;
const PAIR_LINK = /^#pair=([0-9A-Za-z-]{4,40})$/;

/** What Telegram vouches with for who opened this page in its app; empty everywhere else. */
export function telegramProof(hash: string): string {
  return new URLSearchParams(hash.replace(/^#/, "")).get("tgWebAppData") ?? "";
}

type Queued = Extract<wire.Command, { type: "say" | "answer" | "reword" | "steer" | "withdraw" }>;
type WithoutId<T> = T extends wire.Command ? Omit<T, "id"> : never;

function inFolderOf(worker: string, what: "diff" | "tree" | "file" | "reviews" | "merge"): string {
  return `/api/workers/${encodeURIComponent(worker)}/${what}`;
}

export class LiveActions implements Actions {
  readonly voice: VoiceNotes;
  readonly sprints = sprintActions((command) => this.now(command));
  private readonly app: LiveApp;

  constructor(app: LiveApp) {
    this.app = app;
    this.voice = new VoiceNotes(app);
  }

  /* --- what may wait on the phone */

  say: Actions["say"] = (worker, text, options = {}) => {
    const id = ulid();
    const { draft } = this.app.conversation(worker);
    const pictures = (options.apart ? [] : (options.pictures ?? draft.peek().pictures)).map((one) => one.id);
    const command: Queued = { type: "say", id, worker, text, ...(options.now ? { steer: true } : {}) };
    if (!options.apart) {
      this.app.conversations.sent(worker);
    }
    void this.app.parcels.add(this.parcel(worker, command, pictures), options.apart ? null : worker);
    return id;
  };

  answer = (ask: string, choices: readonly string[], note = ""): void => {
    const worker = this.app.asks.peek().find((one) => one.id === ask)?.worker ?? "";
    this.queue(worker, { type: "answer", ask, choice: choices.join(","), ...(note === "" ? {} : { note }) });
    this.app.answering(ask);
  };

  retry = (key: string): void => {
    const parcel = this.app.parcels.all.find((one) => one.id === key);
    if (parcel?.command.type === "say") {
      const { worker, text, steer } = parcel.command;
      void this.app.parcels.drop(key);
      const id = ulid();
      // Whoever sends again what was refused means it: it waits for a worker that is offline.
      const anyway = parcel.state === "refused" ? { anyway: true } : {};
      const to = worker ?? parcel.worker;
      const command: Queued = { type: "say", id, worker: to, text, ...(steer ? { steer } : {}), ...anyway };
      void this.app.parcels.add(this.parcel(parcel.worker, command, parcel.pictures));
      return;
    }
    for (const { worker, rows } of this.app.conversations.all()) {
      const row = rows.peek().find((one) => one.key === key);
      if (row?.kind === "message") {
        // What went with it is on the node already.
        const attached = row.attachments.length > 0 ? { attachments: row.attachments } : {};
        const command: Queued = { type: "say", id: ulid(), worker, text: row.text, ...attached };
        void this.app.parcels.add(this.parcel(worker, command, []));
      }
    }
  };

  drop = (key: string): void => {
    const parcel = this.app.parcels.all.find((one) => one.id === key);
    if (parcel && (parcel.via === "" || parcel.state === "refused" || parcel.state === "doubted")) {
      void this.app.parcels.drop(key);
      return;
    }
    const { worker, message } = this.waiting(key);
    this.queue(worker, { type: "withdraw", message });
  };

  edit = (key: string, text: string): void => {
    const parcel = this.app.parcels.all.find((one) => one.id === key);
    if (parcel && parcel.via === "" && parcel.command.type === "say") {
      void this.app.parcels.change({ ...parcel, command: { ...parcel.command, text } });
      return;
    }
    const { worker, message } = this.waiting(key);
    this.queue(worker, { type: "reword", message, text });
  };

  sendNow = (key: string): void => {
    const { worker, message } = this.waiting(key);
    this.queue(worker, { type: "steer", message });
  };

  private queue(worker: string, command: WithoutId<Queued>): void {
    const id = ulid();
    void this.app.parcels.add(this.parcel(worker, { ...command, id } as Queued, []));
  }

  private parcel(worker: string, command: Queued, pictures: readonly string[]): Parcel {
    const at = Date.now() / 1000;
    return { id: command.id, worker, command, at, state: "waiting", why: "", message: "", via: "", pictures };
  }

  /** The message that a key or an id names, by what the node calls it. */
  private waiting(key: string): { worker: string; message: string } {
    for (const worker of Object.values(this.app.state.present.workers ?? {})) {
      const found = (worker.queue ?? []).find((one) => one.id === key || keyOf(one.id, this.app.via) === key);
      if (found) {
        return { worker: worker.name, message: found.id };
      }
    }
    const parcel = this.app.parcels.all.find((one) => one.id === key);
    return { worker: parcel?.worker ?? "", message: parcel?.message || `${this.app.via}:${key}` };
  }

  /* --- what is for now, or not at all */

  interrupt = (worker: string): Promise<Outcome> => this.now({ type: "interrupt", worker, withdraw: true });
  relaunch = (worker: string): Promise<Outcome> => this.now({ type: "relaunch", worker });
  tryAgain = (worker: string, turn = ""): Promise<Outcome> => this.now({ type: "retry", worker, turn });
  focus = (worker: string): Promise<Outcome> => this.now({ type: "focus", worker });
  end = (worker: string, handBack = false): Promise<Outcome> => this.now({ type: "end", worker, hand_back: handBack });
  tune = (worker: string, change: { model?: string; mode?: Mode; effort?: string }): Promise<Outcome> =>
    this.now({ type: "tune", worker, ...change });

  review = (worker: string, { by, ...rest }: ReviewRequest): Promise<Outcome> =>
    this.now({ type: "review", worker, by, ...rest });
  reviewAgain = (worker: string, review: string): Promise<Outcome> =>
    this.now({ type: "review", worker, again: review });
  cancelReview = (worker: string, review: string): Promise<Outcome> =>
    this.now({ type: "cancel_review", worker, review });
  sendFindings = (worker: string, review: string, findings: readonly string[]): Promise<Outcome> =>
    this.now({ type: "send_findings", worker, review, findings });

  refreshReviews = async (worker: string): Promise<void> => {
    // Where it cannot be told, what was known before stays on the screen.
    await this.app.api.get(inFolderOf(worker, "reviews")).catch(() => undefined);
  };

  merge = async (worker: string, into: string): Promise<Outcome> => {
    try {
      await this.app.api.post(inFolderOf(worker, "merge"), { into });
      return DONE;
    } catch (error) {
      return this.failed(asFailure(error));
    }
  };
  setAttention = (settings: AttentionSettings): Promise<Outcome> => this.now({ type: "set_attention", settings });
  digest = async (): Promise<readonly DigestLine[]> =>
    (await this.app.api.get<{ digest: readonly DigestLine[] }>("/api/digest")).digest;
  push = (): Promise<PushState> => this.app.push.state();
  pushOn = (): Promise<Outcome> => this.app.push.switchOn();
  pushOff = (): Promise<Outcome> => this.app.push.switchOff();
  testPush = (): Promise<PushTest> => this.app.push.test();

  hire = ({ name, wire: by, ...rest }: HireRequest): Promise<Outcome> =>
    this.now({ type: "hire", worker: name, ...rest, ...(by ? { options: { wire: by } } : {}) });

  reorder = (_worker: string, ids: readonly string[]): Promise<Outcome> =>
    this.now({ type: "reorder", messages: ids.map((id) => this.waiting(id).message) });

  private async now(command: WithoutId<wire.Command>): Promise<Outcome> {
    const whole = { ...command, id: ulid() };
    for (let tried = 1; ; tried += 1) {
      try {
        await this.app.api.post("/api/hub/commands", whole);
        return DONE;
      } catch (error) {
        const failure = asFailure(error);
        if (failure.kind !== "unreachable" || tried === TRIES) {
          return this.failed(failure);
        }
      }
    }
  }

  private failed(failure: NodeFailure): Outcome {
    if (failure.kind === "stranger") {
      this.app.isUnpaired();
    }
    return { ok: false, why: failure.message };
  }

  /* --- reading */

  loadOlder = (worker: string): Promise<void> => this.app.loadOlder(worker);

  loadAround = async (worker: string, seq: number): Promise<void> => {
    for (let pages = 0; pages < 100; pages += 1) {
      const log = this.app.state.logs.get(worker);
      if (!log?.more || (log.entries[0]?.seq ?? 0) <= seq) {
        return;
      }
      const before = log.entries.length;
      await this.app.loadOlder(worker);
      if ((this.app.state.logs.get(worker)?.entries.length ?? 0) === before) {
        return;
      }
    }
  };

  look = (worker: string): void => this.app.look(worker);

  changes = async (worker: string, turn = ""): Promise<Changes> => {
    const { diff } = await this.app.api.get<{ diff: wire.WorkdirDiff }>(inFolderOf(worker, "diff"), { turn });
    return { patch: diff.patch ?? "", cut: diff.cut ?? false };
  };

  folder = async (worker: string, path: string): Promise<FolderListing> => {
    const { tree } = await this.app.api.get<{ tree: wire.FolderListing }>(inFolderOf(worker, "tree"), { path });
    return { entries: (tree.entries ?? []).map((one) => ({ ...one, size: one.size ?? 0 })), more: tree.more ?? false };
  };

  fileText = async (worker: string, path: string): Promise<FileText> => {
    const { file } = await this.app.api.get<{ file: wire.FileText }>(inFolderOf(worker, "file"), { path });
    return { text: file.text ?? null, size: file.size, cut: file.cut ?? false };
  };

  watchPane = (worker: string, watcher: PaneWatcher): PaneWatch => this.app.watchPane(worker, watcher);

  type = (worker: string, input: PaneInput): Promise<Outcome> => typeInto(this.app.fetch, worker, input);

  search = async (query: string, worker = ""): Promise<readonly Found[]> => {
    const { found } = await this.app.api.get<{ found?: readonly wire.Found[] }>("/api/hub/search", { query, worker });
    return (found ?? []).map((one) => ({ ...one, excerpt: one.excerpt ?? "" }));
  };

  sessionPast = async (backend: string, session: string, before?: number): Promise<SessionPast> => {
    const path = `/api/hub/sessions/${encodeURIComponent(backend)}/${encodeURIComponent(session)}`;
    const { history } = await this.app.api.get<{ history: wire.HistoryPage }>(path, { before });
    const sources = { log: fromPage(history), queue: [], receipts: {}, parcels: [], pictures: () => [], via: "" };
    return { rows: rowsOf(sources, []), first: history.entries?.[0]?.seq ?? 0, more: history.more ?? false };
  };

  sessions = async (backend = "", directory = ""): Promise<readonly SessionFound[]> => {
    const { sessions } = await this.app.api.get<{ sessions?: readonly wire.SessionFound[] }>("/api/hub/sessions", {
      backend,
      directory,
    });
    return (sessions ?? []).map((one) => ({
      id: one.id,
      backend: one.backend ?? "",
      directory: one.directory,
      title: one.title ?? "",
      at: one.at ?? 0,
      worker: one.worker ?? "",
      open: one.open ?? false,
    }));
  };

  hireChoices = async (): Promise<HireChoices> => {
    const { hire } = await this.app.api.get<{ hire: wire.HireChoices }>("/api/hire", { versions: 0 });
    const backends = (hire.backends ?? []).map((one) => ({
      backend: one.backend,
      title: one.backend,
      installed: one.found ?? true,
      hint: (one.found ?? true) ? (one.how_to_log_in ?? "") : (one.install ?? ""),
      wires: one.wires.map((by) => ({ wire: by.wire, modes: by.modes ?? [], effort: by.can.effort ?? [] })),
      models: one.models ?? [],
      judges: one.wires.some((by) => by.can.reviews ?? false),
    }));
    const { backend, directory, mode } = hire;
    return { backends, backend, directory, mode: mode ?? "default", folders: hire.folders ?? [] };
  };

  abilities = async (name: string): Promise<Abilities> => {
    const path = `/api/workers/${encodeURIComponent(name)}`;
    const { worker } = await this.app.api.get<{ worker: wire.WorkerAbilities }>(path);
    return { pane: worker.pane ?? false, steer: worker.can.steer ?? false };
  };

  /* --- this device */

  /** Pairs by what the address has in its fragment, which no server and no other page ever sees: the code of a link, or
   * what Telegram hands a page that it has opened in its own app. */
  async pairByLink(): Promise<void> {
    const code = PAIR_LINK.exec(location.hash)?.[1];
    const proof = telegramProof(location.hash);
    if (code === undefined && proof === "") {
      return;
    }
    history.replaceState(null, "", location.pathname + location.search);
    // A browser that is paired already stays the device that it is.
    const isPaired = this.app.device.peek() !== null && (await this.whoAmI().catch(() => false));
    if (!isPaired) {
      const outcome = await (code ? this.pairOnce(code, "") : this.signInOnce(proof));
      if (!outcome.ok) {
        this.app.toast("error", outcome.why);
      }
    }
  }

  /** Whether the node knows this device; what it is called. */
  async whoAmI(): Promise<boolean> {
    const { devices, me } = await this.listed();
    const found = devices.find((one) => one.id === me);
    if (found) {
      await this.isNow(found);
    }
    return found !== undefined;
  }

  private listed(): Promise<{ devices: readonly wire.Device[]; me: string }> {
    return this.app.api.get<{ devices: readonly wire.Device[]; me: string }>("/api/devices");
  }

  private async isNow(device: wire.Device): Promise<void> {
    const kept = { id: device.id, name: device.name, pairedAt: device.paired_at, readOnly: device.read_only ?? false };
    await this.app.database.keepDevice(kept);
    this.app.isDevice(kept);
  }

  devices = async (): Promise<readonly Device[]> => {
    const { devices, me } = await this.listed();
    return devices.map((one) => ({
      id: one.id,
      name: one.name,
      pairedAt: one.paired_at,
      lastSeen: one.last_seen ?? one.paired_at,
      readOnly: one.read_only ?? false,
      me: one.id === me,
    }));
  };

  revoke = async (device: string): Promise<Outcome> => {
    try {
      await this.app.api.delete(`/api/devices/${encodeURIComponent(device)}`);
      return DONE;
    } catch (error) {
      return this.failed(asFailure(error));
    }
  };

  pair = async (code: string, name = ""): Promise<Outcome> => {
    const outcome = await this.pairOnce(code, name);
    if (outcome.ok) {
      this.app.dial();
    }
    return outcome;
  };

  private pairOnce(code: string, name: string): Promise<Outcome> {
    return this.becomes("/api/pair", { code, name: name || deviceName(navigator.userAgent) });
  }

  private signInOnce(proof: string): Promise<Outcome> {
    return this.becomes("/api/sign-in", { channel: "telegram", proof, name: "Telegram" });
  }

  private async becomes(address: string, asked: object): Promise<Outcome> {
    try {
      const { device } = await this.app.api.post<wire.PairReply>(address, asked);
      await this.isNow(device);
      return DONE;
    } catch (error) {
      return { ok: false, why: asFailure(error).message };
    }
  }

  readonly passkeys = canUsePasskeys();

  addPasskey = async (): Promise<Outcome> => {
    try {
      const options = await this.app.api.post<CreationOptions>("/api/passkeys/options", {});
      await this.app.api.post("/api/passkeys", { credential: await makePasskey(options) });
      return DONE;
    } catch (error) {
      return { ok: false, why: asFailure(error).message };
    }
  };

  usePasskey = async (name = ""): Promise<Outcome> => {
    try {
      const options = await this.app.api.post<RequestOptions>("/api/passkeys/sign-in/options", {});
      const asked = { credential: await provePasskey(options), name: name || deviceName(navigator.userAgent) };
      const { device } = await this.app.api.post<wire.PairReply>("/api/passkeys/sign-in", asked);
      await this.isNow(device);
      this.app.dial();
      return DONE;
    } catch (error) {
      return { ok: false, why: asFailure(error).message };
    }
  };

  logout = async (): Promise<void> => {
    const device = this.app.device.peek();
    if (device) {
      await this.revoke(device.id);
    }
    await this.app.forget();
  };

  attach = async (worker: string, files: readonly File[]): Promise<void> => {
    await this.app.pictures.attach(this.app.conversation(worker).draft, worker, files);
  };

  detach = (worker: string, picture: string): void =>
    this.app.pictures.detach(this.app.conversation(worker).draft, picture);

  set = (change: Partial<Settings>): void => {
    this.app.settings.value = { ...this.app.settings.peek(), ...change };
    void this.app.database.keepSettings(this.app.settings.peek());
  };

  dismiss = (toast: string): void => {
    this.app.toasts.value = this.app.toasts.peek().filter((one) => one.id !== toast);
  };

  reconnect = (): void => this.app.woke();

  update = (): void => {
    void this.app.keepAll().finally(() => this.app.updates.take());
  };
}

function asFailure(error: unknown): NodeFailure {
  return error instanceof NodeFailure ? error : new NodeFailure("unreachable", String(error));
}
