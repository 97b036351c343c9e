/** Voice in the composer: the button that listens or records, the bar while it records, notes that are not written down yet. */

import { useEffect, useState } from "preact/hooks";
import { useApp } from "../state/context";
import type { Picture } from "../state/types";
import type { VoiceOutcome, VoiceReady } from "../state/voice";
import { language, t } from "../texts";
import { Icon } from "./icon";
import { canRecord, useRecorder } from "./recorder";
import { bytes, running } from "./times";
import { Shown } from "./visible";
import { useVoice } from "./voice";

/** How what is spoken becomes text, with the person's wish and what there is here. Pure. */
export function wayOf(
  wish: "auto" | "browser" | "node",
  has: { readonly browser: boolean; readonly node: boolean },
): "browser" | "node" | "" {
  if (wish === "browser" && has.browser) return "browser";
  if (has.node) return "node";
  return has.browser ? "browser" : "";
}

export interface VoiceNote {
  readonly way: "browser" | "node" | "";
  readonly listening: boolean;
  readonly seconds: number | null;
  readonly problem: string;
  /** The note that is being written down. */
  readonly busy: boolean;
  readonly begin: () => void;
  readonly finish: () => void;
  readonly cancel: () => void;
  readonly writeDown: (note: string) => void;
}

/** One worker's voice notes; `onText` gets what the browser heard, `onReady` hears that a note may go at once. */
export function useVoiceNote(worker: string, onText: (text: string) => void, onReady: () => void): VoiceNote {
  const { actions, settings } = useApp();
  const [node, setNode] = useState<VoiceReady>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let wanted = true;
    void actions.voice.ready().then((found) => wanted && setNode(found));
    return () => {
      wanted = false;
    };
  }, [actions]);
  const browser = useVoice(onText);
  const tell = async (writing: Promise<VoiceOutcome>) => {
    setBusy(true);
    setProblem("");
    const outcome = await writing;
    setBusy(false);
    if (!outcome.ok) setProblem(outcome.why);
    else if (outcome.text === "") setProblem(t("nothingHeard"));
    else if (node?.confirm === false) onReady();
  };
  const recorder = useRecorder((note) => {
    if (node && node.largestBytes > 0 && note.size > node.largestBytes) setProblem(t("noteTooLong"));
    else void tell(actions.voice.note(worker, note, language.value));
  });
  const way = wayOf(settings.value.voice, {
    browser: browser.possible,
    node: (node?.ready ?? false) && canRecord(),
  });
  return {
    way,
    listening: browser.listening,
    seconds: recorder.seconds,
    problem: recorder.refused ? t("noMicrophone") : browser.problem || problem,
    busy,
    begin: () => (way === "node" ? void recorder.start() : browser.toggle()),
    finish: recorder.finish,
    cancel: recorder.cancel,
    writeDown: (note) => void tell(actions.voice.writeDown(worker, note, language.value)),
  };
}

export function VoiceButton({ voice }: { voice: VoiceNote }) {
  if (voice.way === "") return null;
  return (
    <button
      type="button"
      class={voice.listening ? "icon-button listening" : "icon-button"}
      aria-pressed={voice.listening}
      aria-label={voice.listening ? t("stopListening") : voice.way === "node" ? t("recordNote") : t("speak")}
      onClick={voice.begin}
    >
      <Icon name="microphone" />
    </button>
  );
}

/** Takes the place of the composer while a note is recorded. */
export function RecordingBar({ voice }: { voice: VoiceNote }) {
  return (
    <div class="composer-row recording">
      <button type="button" class="icon-button" aria-label={t("cancel")} onClick={voice.cancel}>
        <Icon name="cross" />
      </button>
      <span class="grow recording-words" role="status">
        <span class="recording-sign" aria-hidden="true" /> {t("recording")} {running(voice.seconds ?? 0)}
      </span>
      <button type="button" class="send" aria-label={t("finishNote")} onClick={voice.finish}>
        <Icon name="check" />
      </button>
    </div>
  );
}

/** Notes that are still on the phone, and what is wrong with the last one. */
export function VoiceNotesLine({
  notes,
  voice,
  onDrop,
}: {
  notes: readonly Picture[];
  voice: VoiceNote;
  onDrop: (note: string) => void;
}) {
  return (
    <>
      {voice.problem ? (
        <p class="bad small voice-problem" role="alert">
          <Shown text={voice.problem} />
        </p>
      ) : null}
      {notes.map((note) => (
        <p key={note.id} class="voice-note small">
          <Icon name="microphone" />
          <span class="grow one">{voice.busy ? t("writingDown") : t("voiceNote", { size: bytes(note.bytes) })}</span>
          {voice.busy ? null : (
            <button type="button" class="text-button" onClick={() => voice.writeDown(note.id)}>
              {t("writeDown")}
            </button>
          )}
          <button type="button" class="icon-button" aria-label={t("drop")} onClick={() => onDrop(note.id)}>
            <Icon name="trash" />
          </button>
        </p>
      ))}
    </>
  );
}
