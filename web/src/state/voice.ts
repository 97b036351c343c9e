/** Voice notes: recorded here, written down by the node, corrected and sent by the person. */

/** Whether the node turns recordings into text. */
export interface VoiceReady {
  readonly ready: boolean;
  /** The person reads what was understood before it goes. */
  readonly confirm: boolean;
  readonly largestBytes: number;
  /** What to do where it is not ready. */
  readonly why: string;
}

/** `text` is empty where nothing was said. */
export type VoiceOutcome = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

export interface VoiceActions {
  ready(): Promise<VoiceReady>;
  /** Keeps the recording with the draft, and has it written down. */
  note(worker: string, recording: File, language: string): Promise<VoiceOutcome>;
  /** Has a recording written down that is still with the draft: its words take its place. */
  writeDown(worker: string, note: string, language: string): Promise<VoiceOutcome>;
}

/** What was written before, and the words that were heard. */
export function joined(written: string, heard: string): string {
  return written.trim() === "" ? heard : `${written.trimEnd()} ${heard}`;
}
