/** Pictures and files that are to go along with a message: kept on the phone until the node has them. */

import type { Signal } from "@preact/signals";
import { t } from "../../texts";
import { type NodeApi, NodeFailure } from "../../wire/http";
import type { Attachment, UploadState } from "../../wire/types";
import type { Draft, Picture } from "../types";
import type { KeptPicture, Parcel, PhoneDatabase } from "./database";
import { shrunk } from "./shrink";
import { ulid } from "./ulid";

/** Small enough to show progress over a thin network. */
const PIECE_BYTES = 256 * 1024;

export class Pictures {
  private readonly kept: Map<string, KeptPicture>;
  private readonly shown = new Map<string, Picture>();
  private readonly database: PhoneDatabase;
  private readonly api: NodeApi;
  private readonly changed: () => void;

  constructor(kept: readonly KeptPicture[], database: PhoneDatabase, api: NodeApi, changed: () => void) {
    this.kept = new Map(kept.map((one) => [one.id, one]));
    this.database = database;
    this.api = api;
    this.changed = changed;
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
    const { name, mediaType, blob } = kept;
    const url = mediaType.startsWith("image/") ? URL.createObjectURL(blob) : "";
    // It is whole on the phone; while it is brought to the node it says how far it came.
    const made: Picture = { id, name, mediaType, bytes: blob.size, url, progress: 1 };
    this.shown.set(id, made);
    return made;
  }

  /** Shows all of them at once; each is whole when it is as small as it gets and written down. Their ids. */
  async attach(draft: Signal<Draft>, worker: string, files: readonly File[]): Promise<readonly string[]> {
    const coming = files.map((file) => ({ file, shown: comingUp(file) }));
    draft.value = { ...draft.peek(), pictures: [...draft.peek().pictures, ...coming.map((one) => one.shown)] };
    for (const { file, shown } of coming) {
      const small = await shrunk(file);
      const kept: KeptPicture = { id: shown.id, worker, name: small.name, mediaType: small.type, blob: small };
      // Whoever took it off meanwhile does not get it back.
      if (draft.peek().pictures.some((one) => one.id === shown.id)) {
        await this.database.keepPicture(kept);
        this.kept.set(kept.id, kept);
        const [whole = shown] = this.of([kept.id]);
        draft.value = {
          ...draft.peek(),
          pictures: draft.peek().pictures.map((one) => (one.id === shown.id ? whole : one)),
        };
      }
    }
    return coming.map((one) => one.shown.id);
  }

  /** What was attached, as it will be sent. */
  blob(id: string): Blob | undefined {
    return this.kept.get(id)?.blob;
  }

  detach(draft: Signal<Draft>, picture: string): void {
    draft.value = { ...draft.peek(), pictures: draft.peek().pictures.filter((one) => one.id !== picture) };
    this.forget([picture]);
  }

  /** What went with a message is the node's from now on. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      const url = this.shown.get(id)?.url;
      if (url) {
        URL.revokeObjectURL(url);
      }
      this.shown.delete(id);
      this.kept.delete(id);
    }
    void this.database.dropPictures(ids);
  }

  /** The message with where its pictures are on the node; those that are not there yet are brought first. */
  async brought(parcel: Parcel): Promise<Parcel> {
    if (parcel.pictures.length === 0 || parcel.command.type !== "say") {
      return parcel;
    }
    const attachments: Attachment[] = [];
    for (const id of parcel.pictures) {
      const kept = this.kept.get(id);
      if (kept) {
        attachments.push(await this.bring(kept));
      }
    }
    return { ...parcel, command: { ...parcel.command, attachments } };
  }

  /** Piece by piece, on from where the node has it: begun twice, it is the same upload. */
  private async bring({ id, worker, name, mediaType, blob }: KeptPicture): Promise<Attachment> {
    const told = { id, worker, name, size: blob.size, media_type: mediaType };
    this.progress(id, 0);
    let { upload } = await this.api.post<{ upload: UploadState }>("/api/uploads", told);
    while (!upload.attachment) {
      const piece = blob.slice(upload.offset, upload.offset + PIECE_BYTES);
      const before = upload.offset;
      ({ upload } = await this.api.put<{ upload: UploadState }>(`/api/uploads/${id}?offset=${before}`, piece));
      if (!upload.attachment && upload.offset <= before) {
        throw new NodeFailure("unreachable", t("fileNotTaken"));
      }
      this.progress(id, upload.offset / Math.max(upload.size, 1));
    }
    this.progress(id, 1);
    return upload.attachment;
  }

  private progress(id: string, progress: number): void {
    const shown = this.shown.get(id);
    if (shown) {
      this.shown.set(id, { ...shown, progress });
      this.changed();
    }
  }
}

function comingUp(file: File): Picture {
  return { id: ulid(), name: file.name, mediaType: file.type, bytes: file.size, url: "", progress: 0 };
}
