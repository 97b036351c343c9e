/** The conversations that are open on the screen: their rows, their drafts, and how far back they were read. */

import { effect, type Signal, signal } from "@preact/signals";
import type { Conversation, Draft, Picture, Row } from "../types";
import type { KeptDraft, PhoneDatabase } from "./database";

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
  private readonly saving = new Map<string, Promise<void>>();

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

  /** Shows nothing any more of what the node said. */
  clear(): void {
    for (const { rows, status } of this.open.values()) {
      rows.value = [];
      status.value = "loading";
    }
  }

  /** Drops every draft: this device is nobody's any more. */
  dropDrafts(): void {
    for (const worker of this.open.keys()) this.sent(worker);
    this.drafts.clear();
  }

  /** Returns when every draft is written down: the screen may be gone in a moment. */
  async saveDrafts(): Promise<void> {
    await Promise.all(this.saving.values());
  }

  /** Every letter at once, for nobody knows when a phone ends an app; what comes while one is written is noted and follows. */
  private keepDraft(conversation: OpenConversation): void {
    const { worker, draft } = conversation;
    let first = true;
    effect(() => {
      const { text, pictures } = draft.value;
      if (first) {
        first = false;
        return;
      }
      this.database.noteDraft(worker, { text, pictures: pictures.map((one) => one.id) });
      if (!this.saving.has(worker)) {
        const saving = this.save(conversation).finally(() => this.saving.delete(worker));
        this.saving.set(worker, saving);
      }
    });
  }

  private async save({ worker, draft }: OpenConversation): Promise<void> {
    for (let kept: Draft | null = null; kept !== draft.peek(); ) {
      kept = draft.peek();
      await this.database.keepDraft(worker, { text: kept.text, pictures: kept.pictures.map((one) => one.id) });
    }
  }

  /** The draft was sent, and is gone in the same transaction. */
  sent(worker: string): void {
    const conversation = this.open.get(worker);
    if (conversation) {
      conversation.draft.value = { text: "", pictures: [] };
    }
  }
}
