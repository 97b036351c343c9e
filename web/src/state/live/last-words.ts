/** The last words before a page is left: written at once, beside the database, which may come too late to keep them. */

import type { Kept, KeptDraft, Parcel } from "./database";

/** The browser's own store, as far as it is needed here. */
export type WordStore = Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">;

/** A message on its way into the outbox, and whose draft it was. */
export interface LastSend {
  readonly parcel: Parcel;
  readonly draftOf: string | null;
}

/** What the database had not written down when the page was left. */
export interface Unkept {
  readonly settings: object | null;
  readonly drafts: ReadonlyMap<string, KeptDraft>;
  readonly sends: readonly LastSend[];
}

const SETTINGS = "last:settings";
const DRAFT = "last:draft:";
const SEND = "last:send:";

/** A word is here from the moment it is said until the database has it; so what is found at a start is newer. */
export class LastWords {
  private readonly store: WordStore | null;

  constructor(store: WordStore | null) {
    this.store = store;
  }

  settings(settings: object): () => void {
    return this.note(SETTINGS, settings);
  }

  /** An emptied draft leaves no word: rather one that comes again than one that is lost. */
  draft(worker: string, draft: KeptDraft): () => void {
    if (draft.text === "" && draft.pictures.length === 0) {
      this.remove(DRAFT + worker);
      return () => undefined;
    }
    return this.note(DRAFT + worker, draft);
  }

  send(send: LastSend): () => void {
    return this.note(SEND + send.parcel.id, send);
  }

  dropSend(id: string): void {
    this.remove(SEND + id);
  }

  read(): Unkept {
    const drafts = this.names(DRAFT).flatMap((name) => {
      const draft = this.get(name);
      return isDraft(draft) ? [[name.slice(DRAFT.length), draft] as const] : [];
    });
    const sends = this.names(SEND)
      .map((name) => this.get(name))
      .filter(isSend);
    const settings = this.get(SETTINGS);
    return { settings: isObject(settings) ? settings : null, drafts: new Map(drafts), sends };
  }

  /** Forgets everything that quotes the node, and with `all` everything but the settings. */
  forget(all: boolean): void {
    for (const name of this.names("").filter((one) => one !== SETTINGS && (all || !one.startsWith("last:")))) {
      this.remove(name);
    }
  }

  private names(start: string): string[] {
    try {
      const count = this.store?.length ?? 0;
      const all = Array.from({ length: count }, (_, place) => this.store?.key(place) ?? "");
      return all.filter((name) => name.startsWith(start)).sort();
    } catch {
      return [];
    }
  }

  private get(name: string): unknown {
    try {
      return JSON.parse(this.store?.getItem(name) ?? "null");
    } catch {
      return null;
    }
  }

  /** Writes it down, and returns what takes it away again unless another word has come since, perhaps in another window. */
  private note(name: string, value: object): () => void {
    const written = JSON.stringify(value);
    try {
      this.store?.setItem(name, written);
    } catch {
      // A full store keeps no new word, and must not keep an older one in its place.
      this.remove(name);
    }
    return () => this.removeIf(name, written);
  }

  private removeIf(name: string, written: string): void {
    try {
      if (this.store?.getItem(name) === written) this.store.removeItem(name);
    } catch {
      // Forbidden: then nothing was written either.
    }
  }

  private remove(name: string): void {
    try {
      this.store?.removeItem(name);
    } catch {
      // Forbidden: then nothing was written either.
    }
  }
}

/** What the database had kept, with the last words over it. Pure. */
export function withLastWords(kept: Kept, { settings, drafts, sends }: Unkept): Kept {
  const known = new Set(kept.outbox.map((one) => one.id));
  const late = sends.filter(({ parcel }) => !known.has(parcel.id));
  const merged = new Map(kept.drafts);
  for (const { draftOf } of late) {
    if (draftOf !== null) merged.delete(draftOf);
  }
  for (const [worker, draft] of drafts) merged.set(worker, draft);
  const outbox = [...kept.outbox, ...late.map(({ parcel }) => parcel)];
  return {
    ...kept,
    settings: settings ?? kept.settings,
    drafts: merged,
    outbox: outbox.sort((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isDraft(value: unknown): value is KeptDraft {
  return isObject(value) && "text" in value && typeof value.text === "string" && "pictures" in value;
}

function isSend(value: unknown): value is LastSend {
  return isObject(value) && "draftOf" in value && "parcel" in value && isObject(value.parcel) && "id" in value.parcel;
}
