/** The conversations that are open on the screen: their rows, their drafts, and how far back they were read. */

import { effect, type Signal, signal } from "@preact/signals";
import type { Conversation, Draft, Picture, Row } from "../types";
import type { KeptDraft, PhoneDatabase } from "./database";

const DRAFT_MILLISECONDS = 250;

export interface OpenConversation extends Conversation {
  readonly rows: Signal<readonly Row[]>;
  readonly status: Signal<"loading" | "cached" | "ready" | "failed">;
  readonly problem: Signal<string>;
  readonly more: Signal<boolean>;
  readonly loadingOlder: Signal<boolean>;
}

export class Conversations {
  private readonly open = new Map<string, OpenConversation>();
  private readonly drafts: Map<string, KeptDraft>;
  private readonly database: PhoneDatabase;
  private readonly pictures: (ids: readonly string[]) => readonly Picture[];
  private readonly unsaved = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    drafts: ReadonlyMap<string, KeptDraft>,
    database: PhoneDatabase,
    pictures: (ids: readonly string[]) => readonly Picture[],
  ) {
    this.drafts = new Map(drafts);
    this.database = database;
    this.pictures = pictures;
  }

  /** The conversation, and whether it was opened just now. */
  get(worker: string): { readonly conversation: OpenConversation; readonly isNew: boolean } {
    const known = this.open.get(worker);
    if (known) {
      return { conversation: known, isNew: false };
    }
    const draft = this.drafts.get(worker);
    const conversation: OpenConversation = {
      worker,
      rows: signal<readonly Row[]>([]),
      status: signal<"loading" | "cached" | "ready" | "failed">("loading"),
      problem: signal(""),
      more: signal(false),
      loadingOlder: signal(false),
      draft: signal<Draft>({ text: draft?.text ?? "", pictures: draft ? this.pictures(draft.pictures) : [] }),
    };
    this.open.set(worker, conversation);
    this.keepDraft(conversation);
    return { conversation, isNew: true };
  }

  all(): Iterable<OpenConversation> {
    return this.open.values();
  }

  /** Writes every draft down now: the screen may be gone in a moment. */
  async saveDrafts(): Promise<void> {
    const workers = [...this.unsaved.keys()];
    await Promise.all(workers.map((worker) => this.save(worker)));
  }

  private keepDraft(conversation: OpenConversation): void {
    const { worker, draft } = conversation;
    let first = true;
    effect(() => {
      draft.value;
      if (first) {
        first = false;
        return;
      }
      clearTimeout(this.unsaved.get(worker));
      this.unsaved.set(
        worker,
        setTimeout(() => void this.save(worker), DRAFT_MILLISECONDS),
      );
    });
  }

  private async save(worker: string): Promise<void> {
    clearTimeout(this.unsaved.get(worker));
    this.unsaved.delete(worker);
    const draft = this.open.get(worker)?.draft.value;
    if (draft) {
      await this.database.keepDraft(worker, { text: draft.text, pictures: draft.pictures.map((one) => one.id) });
    }
  }

  /** The draft was sent, and is gone in the same transaction: a write that waits must not bring it back. */
  sent(worker: string): void {
    const conversation = this.open.get(worker);
    if (conversation) {
      conversation.draft.value = { text: "", pictures: [] };
    }
    clearTimeout(this.unsaved.get(worker));
    this.unsaved.delete(worker);
  }
}
