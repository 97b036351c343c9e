/** Speech to text by the browser's own recognition, where it has one. */

import { useEffect, useRef, useState } from "preact/hooks";
import { language } from "../texts";

interface Recognition extends EventTarget {
  lang: string;
  interimResults: boolean;
  continuous: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void) | null;
  onend: (() => void) | null;
  onerror: (() => void) | null;
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
  readonly toggle: () => void;
}

/** Listens until it is told to stop, or the person is silent; hands over what was understood. */
export function useVoice(onText: (text: string) => void): Voice {
  const [listening, setListening] = useState(false);
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
    one.onerror = one.onend;
    running.current = one;
    setListening(true);
    one.start();
  };
  return { possible: Made !== undefined, listening, toggle };
}
