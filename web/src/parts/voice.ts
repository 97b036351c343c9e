/** Speech to text by the browser's own recognition, where it has one. */

import { useEffect, useRef, useState } from "preact/hooks";
import { language, t } from "../texts";

interface Recognition extends EventTarget {
  lang: string;
  interimResults: boolean;
  continuous: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void) | null;
  onend: (() => void) | null;
  onerror: ((event: { readonly error?: string }) => void) | null;
  start(): void;
  stop(): void;
}

type RecognitionClass = new () => Recognition;

function recognitionClass(): RecognitionClass | undefined {
  const known = globalThis as { SpeechRecognition?: RecognitionClass; webkitSpeechRecognition?: RecognitionClass };
  return known.SpeechRecognition ?? known.webkitSpeechRecognition;
}

export interface Voice {
  readonly possible: boolean;
  readonly listening: boolean;
  /** Why nothing came of the last time, for the person; empty where all went well. */
  readonly problem: string;
  readonly toggle: () => void;
}

/** What the person is told of an error of the browser's recognition. Pure. */
export function spokenProblem(error: string): string {
  switch (error) {
    case "aborted":
      return "";
    case "no-speech":
      return t("nothingHeard");
    case "not-allowed":
    case "service-not-allowed":
    case "audio-capture":
      return t("noMicrophone");
    default:
      return t("recognitionFailed", { error });
  }
}

/** Listens until it is told to stop, or the person is silent; hands over what was understood. */
export function useVoice(onText: (text: string) => void): Voice {
  const [listening, setListening] = useState(false);
  const [problem, setProblem] = useState("");
  const running = useRef<Recognition | null>(null);
  const told = useRef(onText);
  told.current = onText;
  useEffect(() => () => running.current?.stop(), []);
  const Made = recognitionClass();
  const toggle = () => {
    if (running.current) {
      running.current.stop();
      return;
    }
    if (!Made) return;
    const one = new Made();
    one.lang = navigator.languages.find((wanted) => wanted.startsWith(language.value)) ?? language.value;
    one.interimResults = false;
    one.continuous = false;
    one.onresult = (event) => {
      const heard = Array.from(event.results, (result) => result[0]?.transcript ?? "")
        .join(" ")
        .trim();
      if (heard) told.current(heard);
    };
    one.onend = () => {
      running.current = null;
      setListening(false);
    };
    // The end is told after an error, too.
    one.onerror = ({ error }) => setProblem(spokenProblem(error ?? ""));
    running.current = one;
    setProblem("");
    setListening(true);
    one.start();
  };
  return { possible: Made !== undefined, listening, problem, toggle };
}
