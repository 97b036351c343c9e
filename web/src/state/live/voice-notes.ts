/** Voice notes over the node: kept on the phone until they are written down, so that none is lost in a tunnel. */

import { NodeFailure } from "../../wire/http";
import { joined, type VoiceActions, type VoiceOutcome, type VoiceReady } from "../voice";
import type { LiveApp } from "./app";

interface VoiceAnswer {
  readonly voice: {
    readonly ready: boolean;
    readonly confirm?: boolean;
    readonly largest_bytes?: number;
    readonly why?: string;
  };
}

const NOT_READY: VoiceReady = { ready: false, confirm: true, largestBytes: 0, why: "" };

export class VoiceNotes implements VoiceActions {
  private readonly app: LiveApp;

  constructor(app: LiveApp) {
    this.app = app;
  }

  ready = async (): Promise<VoiceReady> => {
    try {
      const { voice } = await this.app.api.get<VoiceAnswer>("/api/voice");
      return {
        ready: voice.ready,
        confirm: voice.confirm ?? true,
        largestBytes: voice.largest_bytes ?? 0,
        why: voice.why ?? "",
      };
    } catch {
      // An older node, or none in reach.
      return NOT_READY;
    }
  };

  note = async (worker: string, recording: File, language: string): Promise<VoiceOutcome> => {
    const { draft } = this.app.conversation(worker);
    const [note] = await this.app.pictures.attach(draft, worker, [recording]);
    return note === undefined ? { ok: true, text: "" } : this.writeDown(worker, note, language);
  };

  writeDown = async (worker: string, note: string, language: string): Promise<VoiceOutcome> => {
    const recording = this.app.pictures.blob(note);
    if (recording === undefined) {
      return { ok: true, text: "" };
    }
    try {
      const path = `/api/voice?language=${encodeURIComponent(language)}`;
      const { transcript } = await this.app.api.send<{ transcript: { text: string } }>(path, recording);
      const text = transcript.text.trim();
      const { draft } = this.app.conversation(worker);
      this.app.pictures.detach(draft, note);
      if (text !== "") {
        draft.value = { ...draft.peek(), text: joined(draft.peek().text, text) };
      }
      return { ok: true, text };
    } catch (error) {
      return { ok: false, why: error instanceof NodeFailure ? error.message : String(error) };
    }
  };
}
