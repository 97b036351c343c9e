/** What the phone keeps: the cursor with the state that it belongs to, drafts, and commands that are not confirmed. */

import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Log } from "../../wire/log";
import type { Command, Present } from "../../wire/types";
import { LastWords, withLastWords } from "./last-words";

/** How many entries of a conversation are kept for the next start. */
const KEPT_ENTRIES = 60;
const NAME = "farhand";

export interface Cursor {
  readonly journal: string;
  readonly after: number;
}

export interface KeptDevice {
  readonly id: string;
  readonly name: string;
  readonly pairedAt: number;
  readonly readOnly: boolean;
}

/** A command on its way: written down before the first try, with the id that every try has. */
export interface Parcel {
  readonly id: string;
  readonly worker: string;
  readonly command: Command;
  readonly at: number;
  /** `accepted`: the node has it, and the event that shows it has not come yet. `doubted`: nobody can tell. */
  readonly state: "waiting" | "refused" | "accepted" | "doubted";
  readonly why: string;
  /** What the node calls the message. */
  readonly message: string;
  /** The device that it was first sent as; empty before the first try. */
  readonly via: string;
  readonly pictures: readonly string[];
}

export interface KeptPicture {
  readonly id: string;
  readonly worker: string;
  readonly name: string;
  readonly mediaType: string;
  readonly blob: Blob;
}

export interface KeptDraft {
  readonly text: string;
  readonly pictures: readonly string[];
}

interface Schema extends DBSchema {
  meta: { key: string; value: unknown };
  logs: { key: string; value: Log };
  drafts: { key: string; value: KeptDraft };
  outbox: { key: string; value: Parcel };
  pictures: { key: string; value: KeptPicture };
  reads: { key: string; value: number };
}

/** Everything that was kept, as the app starts with it. */
export interface Kept {
  readonly cursor: Cursor | null;
  readonly present: Present | null;
  readonly device: KeptDevice | null;
  readonly settings: unknown;
  readonly logs: ReadonlyMap<string, Log>;
  readonly drafts: ReadonlyMap<string, KeptDraft>;
  readonly outbox: readonly Parcel[];
  readonly pictures: readonly KeptPicture[];
  readonly reads: ReadonlyMap<string, number>;
}

export const NOTHING: Kept = {
  cursor: null,
  present: null,
  device: null,
  settings: null,
  logs: new Map(),
  drafts: new Map(),
  outbox: [],
  pictures: [],
  reads: new Map(),
};

type Stores = "meta" | "logs" | "drafts" | "outbox" | "pictures" | "reads";

export class PhoneDatabase {
  private readonly db: IDBPDatabase<Schema>;
  private readonly words: LastWords;

  private constructor(db: IDBPDatabase<Schema>, words: LastWords) {
    this.db = db;
    this.words = words;
  }

  static async open(name = NAME, words = new LastWords(null)): Promise<PhoneDatabase> {
    const db = await openDB<Schema>(name, 1, {
      upgrade(made) {
        for (const store of ["meta", "logs", "drafts", "outbox", "pictures", "reads"] as const) {
          made.createObjectStore(store);
        }
      },
    });
    return new PhoneDatabase(db, words);
  }

  /** What was kept, with the last words of the page before over it. */
  async read(): Promise<Kept> {
    const last = this.words.read();
    const stored = await this.stored().catch(() => NOTHING);
    this.keepWords(stored.outbox);
    return withLastWords(stored, last);
  }

  /** Writes down what the page before had no time for. */
  private keepWords(outbox: readonly Parcel[]): void {
    const { settings, drafts, sends } = this.words.read();
    for (const { parcel, draftOf } of sends) {
      if (outbox.some((one) => one.id === parcel.id)) this.words.dropSend(parcel.id);
      else void this.send(parcel, draftOf);
    }
    for (const [worker, draft] of drafts) void this.keepDraft(worker, draft);
    if (settings !== null) void this.keepSettings(settings);
  }

  private async stored(): Promise<Kept> {
    const [cursor, present, device, settings, logs, drafts, outbox, pictures, reads] = await Promise.all([
      this.db.get("meta", "cursor"),
      this.db.get("meta", "present"),
      this.db.get("meta", "device"),
      this.db.get("meta", "settings"),
      this.all("logs"),
      this.all("drafts"),
      this.db.getAll("outbox"),
      this.db.getAll("pictures"),
      this.all("reads"),
    ]);
    return {
      cursor: (cursor as Cursor | undefined) ?? null,
      present: (present as Present | undefined) ?? null,
      device: (device as KeptDevice | undefined) ?? null,
      settings: settings ?? null,
      logs,
      drafts,
      outbox,
      pictures,
      reads,
    };
  }

  private async all<S extends Stores>(store: S): Promise<Map<string, Schema[S]["value"]>> {
    const [keys, values] = await Promise.all([this.db.getAllKeys(store), this.db.getAll(store)]);
    return new Map(keys.map((key, place) => [key as string, values[place] as Schema[S]["value"]]));
  }

  /** The cursor and all that was folded up to it, in one transaction: after a crash they fit. */
  async keepState(cursor: Cursor, present: Present, logs: ReadonlyMap<string, Log>): Promise<void> {
    const write = this.db.transaction(["meta", "logs"], "readwrite");
    const workers = present.workers ?? {};
    const puts = [
      write.objectStore("meta").put(cursor, "cursor"),
      write.objectStore("meta").put(present, "present"),
      ...[...logs].map(([worker, log]) => write.objectStore("logs").put(newest(log), worker)),
    ];
    // At once: a page that is being left sees no request come back, and what is not committed is undone.
    write.commit();
    await Promise.all([...puts, write.done]);
    const gone = (await this.db.getAllKeys("logs")).filter((name) => !Object.hasOwn(workers, name));
    await Promise.all(gone.map((name) => this.db.delete("logs", name)));
  }

  async keepDevice(device: KeptDevice): Promise<void> {
    await this.db.put("meta", device, "device");
  }

  async keepSettings(settings: object): Promise<void> {
    const kept = this.words.settings(settings);
    await this.db.put("meta", settings, "settings");
    kept();
  }

  /** Notes a draft at once; it is to be kept as soon as the database has time. */
  noteDraft(worker: string, draft: KeptDraft): void {
    this.words.draft(worker, draft);
  }

  async keepDraft(worker: string, draft: KeptDraft): Promise<void> {
    const kept = this.words.draft(worker, draft);
    if (draft.text === "" && draft.pictures.length === 0) {
      await this.db.delete("drafts", worker);
    } else {
      await this.db.put("drafts", draft, worker);
    }
    kept();
  }

  async keepRead(worker: string, seq: number): Promise<void> {
    await this.db.put("reads", seq, worker);
  }

  async keepPicture(picture: KeptPicture): Promise<void> {
    await this.db.put("pictures", picture, picture.id);
  }

  async dropPictures(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.db.delete("pictures", id)));
  }

  /** The message into the outbox and its draft away, together: it is in one of the two, whatever happens. */
  async send(parcel: Parcel, draftOf: string | null): Promise<void> {
    const kept = this.words.send({ parcel, draftOf });
    const write = this.db.transaction(["outbox", "drafts"], "readwrite");
    await Promise.all([
      write.objectStore("outbox").put(parcel, parcel.id),
      ...(draftOf === null ? [] : [write.objectStore("drafts").delete(draftOf)]),
      write.done,
    ]);
    kept();
  }

  async keepParcel(parcel: Parcel): Promise<void> {
    await this.db.put("outbox", parcel, parcel.id);
  }

  async dropParcel(id: string): Promise<void> {
    this.words.dropSend(id);
    await this.db.delete("outbox", id);
  }

  /** Forgets what the node said; what was written here and not confirmed stays. */
  async forgetNode(): Promise<void> {
    this.words.forget(false);
    const write = this.db.transaction(["meta", "logs", "reads"], "readwrite");
    await Promise.all([
      ...["cursor", "present", "device"].map((name) => write.objectStore("meta").delete(name)),
      write.objectStore("logs").clear(),
      write.objectStore("reads").clear(),
      write.done,
    ]);
  }

  /** Forgets everything but the settings. */
  async forget(): Promise<void> {
    this.words.forget(true);
    const settings = await this.db.get("meta", "settings");
    const write = this.db.transaction(["meta", "logs", "drafts", "outbox", "pictures", "reads"], "readwrite");
    await Promise.all([
      ...(["meta", "logs", "drafts", "outbox", "pictures", "reads"] as const).map((name) =>
        write.objectStore(name).clear(),
      ),
      write.done,
    ]);
    if (settings !== undefined) {
      await this.db.put("meta", settings, "settings");
    }
  }
}

function newest(log: Log): Log {
  return log.entries.length <= KEPT_ENTRIES ? log : { ...log, entries: log.entries.slice(-KEPT_ENTRIES), more: true };
}
