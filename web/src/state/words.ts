/** The words of the node that screens show, as they travel: see docs/reference/events.md. */

export type Mode = "default" | "auto_edit" | "plan" | "yolo";
export type AskKind = "permission" | "choice" | "plan" | "folder";
export type HowSettled = "answered" | "desk" | "expired" | "withdrawn";
export type HowEnded = "completed" | "failed" | "interrupted" | "lost" | "parked";
export type ActionKind = "run" | "write" | "edit" | "delete" | "read" | "fetch" | "call";

export interface Choice {
  readonly id: string;
  readonly label: string;
  /** Left out means true. */
  readonly allows?: boolean;
  /** It takes words: a refusal may have them along, any other choice is made by them. */
  readonly words?: boolean;
  /** All that it allows beyond this one time, and until when; shown whole beside the button. */
  readonly scope?: string;
}

export interface Attachment {
  readonly path: string;
  readonly name?: string;
  readonly media_type?: string;
  readonly caption?: string;
}

export interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost_dollars?: number | null;
}

export interface Action {
  readonly kind: ActionKind;
  readonly target?: string;
  readonly paths?: readonly string[];
  readonly tool?: string;
}

export interface Sender {
  readonly via: string;
  readonly who?: string;
}
