/** Records a voice note with the microphone: one at a time, no longer than a few minutes, handed over as a file. */

import { useEffect, useRef, useState } from "preact/hooks";

const LONGEST_SECONDS = 300;
const KINDS: readonly (readonly [type: string, ending: string])[] = [
  ["audio/webm;codecs=opus", "webm"],
  ["audio/mp4", "m4a"],
  ["audio/ogg;codecs=opus", "ogg"],
];

/** Whether this browser records at all, and lets this page: without https it does not. */
export function canRecord(): boolean {
  return typeof MediaRecorder !== "undefined" && navigator.mediaDevices?.getUserMedia !== undefined;
}

export interface Recorder {
  /** For how many seconds it has been recording; null when it is not. */
  readonly seconds: number | null;
  /** The microphone was refused, or there is none. */
  readonly refused: boolean;
  readonly start: () => Promise<void>;
  readonly finish: () => void;
  readonly cancel: () => void;
}

export function useRecorder(onNote: (note: File) => void): Recorder {
  const [seconds, setSeconds] = useState<number | null>(null);
  const [refused, setRefused] = useState(false);
  const running = useRef<MediaRecorder | null>(null);
  const wanted = useRef(false);
  const told = useRef(onNote);
  told.current = onNote;
  const end = (keep: boolean) => {
    wanted.current = keep;
    if (running.current?.state === "recording") running.current.stop();
  };
  useEffect(() => () => end(false), []);
  const start = async () => {
    if (running.current) return;
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      running.current = recorded(stream, setSeconds, (note) => {
        running.current = null;
        setSeconds(null);
        if (wanted.current && note.size > 0) told.current(note);
      });
      setRefused(false);
    } catch {
      setRefused(true);
    }
  };
  return { seconds, refused, start, finish: () => end(true), cancel: () => end(false) };
}

function recorded(stream: MediaStream, tick: (seconds: number) => void, done: (note: File) => void): MediaRecorder {
  const [type = "", ending = "webm"] = KINDS.find(([kind]) => MediaRecorder.isTypeSupported(kind)) ?? [];
  const recorder = new MediaRecorder(stream, type ? { mimeType: type } : {});
  const pieces: Blob[] = [];
  const began = Date.now();
  const timer = setInterval(() => {
    const passed = Math.floor((Date.now() - began) / 1000);
    tick(passed);
    if (passed >= LONGEST_SECONDS && recorder.state === "recording") recorder.stop();
  }, 250);
  recorder.ondataavailable = (event) => pieces.push(event.data);
  recorder.onstop = () => {
    clearInterval(timer);
    for (const track of stream.getTracks()) track.stop();
    const plain = (recorder.mimeType || type).split(";", 1)[0] ?? "";
    done(new File(pieces, `voice-note.${ending}`, { type: plain }));
  };
  recorder.start();
  tick(0);
  return recorder;
}
