/** Asks a worker for the colours of code; the worker and its languages are loaded when the first block needs them. */

/** Text, or a kind of word with what is in it. */
export type Coloured = string | [kind: string, parts: Coloured[]];
export type ColourRequest = { id: number; text: string; language: string };
export type ColourReply = { id: number; parts: Coloured[] | null };

const LONGEST = 40_000;
const KNOWN = new Set(
  (
    "bash sh shell zsh console c cpp h css scss diff go html xml svg java js javascript mjs jsx json jsonc kotlin kt md markdown php " +
    "py python rb ruby rs rust sql swift toml ini ts tsx typescript yaml yml dockerfile makefile"
  ).split(" "),
);

let worker: Worker | undefined;
let last = 0;
const waiting = new Map<number, (parts: Coloured[] | null) => void>();

/** Whether it is worth asking. */
export function mayBeColoured(text: string, language: string): boolean {
  return KNOWN.has(language.toLowerCase()) && text.length <= LONGEST && typeof Worker !== "undefined";
}

/** The code in coloured parts, or nothing where it cannot be had. */
export function coloursOf(text: string, language: string): Promise<Coloured[] | null> {
  return new Promise((resolve) => {
    const id = ++last;
    waiting.set(id, resolve);
    started().postMessage({ id, text, language: language.toLowerCase() } satisfies ColourRequest);
  });
}

function started(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("./colour-worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<ColourReply>) => {
    waiting.get(event.data.id)?.(event.data.parts);
    waiting.delete(event.data.id);
  };
  worker.onerror = () => {
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
  };
  return worker;
}
