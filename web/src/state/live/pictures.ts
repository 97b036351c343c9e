/** Pictures and files that are to go along with a message: kept on the phone until the node has them. */

import type { Signal } from "@preact/signals";
import type { NodeApi } from "../../wire/http";
import type { Draft, Picture } from "../types";
import type { KeptPicture, PhoneDatabase } from "./database";
import { ulid } from "./ulid";

export class Pictures {
  private readonly kept: Map<string, KeptPicture>;
  private readonly shown = new Map<string, Picture>();
  private readonly database: PhoneDatabase;
  readonly api: NodeApi;

  constructor(kept: readonly KeptPicture[], database: PhoneDatabase, api: NodeApi) {
    this.kept = new Map(kept.map((one) => [one.id, one]));
    this.database = database;
    this.api = api;
  }

  /** The pictures with these ids, as they are shown. */
  of(ids: readonly string[]): readonly Picture[] {
    return ids.flatMap((id) => this.one(id) ?? []);
  }

  private one(id: string): Picture | undefined {
    const known = this.shown.get(id);
    const kept = this.kept.get(id);
    if (known || !kept) {
      return known;
    }
    const { name, mediaType, blob, path } = kept;
    const url = mediaType.startsWith("image/") ? URL.createObjectURL(blob) : "";
    const made: Picture = { id, name, mediaType, bytes: blob.size, url, progress: path === "" ? 0 : 1 };
    this.shown.set(id, made);
    return made;
  }

  async attach(draft: Signal<Draft>, worker: string, files: readonly File[]): Promise<void> {
    for (const file of files) {
      const kept: KeptPicture = { id: ulid(), worker, name: file.name, mediaType: file.type, blob: file, path: "" };
      await this.database.keepPicture(kept);
      this.kept.set(kept.id, kept);
      draft.value = { ...draft.peek(), pictures: [...draft.peek().pictures, ...this.of([kept.id])] };
    }
  }

  detach(draft: Signal<Draft>, picture: string): void {
    draft.value = { ...draft.peek(), pictures: draft.peek().pictures.filter((one) => one.id !== picture) };
    const shown = this.shown.get(picture);
    if (shown?.url) {
      URL.revokeObjectURL(shown.url);
    }
    this.shown.delete(picture);
    this.kept.delete(picture);
    void this.database.dropPictures([picture]);
  }
}
