/** What keys do where there is a keyboard; never while somebody types, but for Ctrl and Esc. */

import { useEffect } from "preact/hooks";
import { useApp } from "../state/context";
import type { TextKey } from "../texts";
import { go, openSheet, route } from "./route";

export const SHORTCUTS: readonly { keys: readonly string[]; text: TextKey }[] = [
  { keys: ["?"], text: "shortcuts" },
  { keys: ["j"], text: "keyNext" },
  { keys: ["k"], text: "keyPrevious" },
  { keys: ["a"], text: "keyAsk" },
  { keys: ["f"], text: "filesAndChanges" },
  { keys: ["h"], text: "hire" },
  { keys: ["/"], text: "search" },
  { keys: ["i"], text: "keyWrite" },
  { keys: ["Ctrl", "Enter"], text: "send" },
  { keys: ["Esc"], text: "close" },
];

export function useShortcuts(): void {
  const { team, asks, device } = useApp();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || route.value.sheet) return;
      const names = (team.value ?? []).map((worker) => worker.name);
      const done = press(event.key, names, asks.value[0]?.id ?? "", !device.value?.readOnly);
      if (done) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [team, asks, device]);
}

function press(key: string, names: readonly string[], ask: string, mayWrite: boolean): boolean {
  const { worker, side } = route.value;
  switch (key) {
    case "?":
      openSheet("keys");
      return true;
    case "j":
    case "k": {
      const to = names[(names.indexOf(worker) + (key === "j" ? 1 : -1) + names.length) % Math.max(names.length, 1)];
      if (to) go({ worker: to });
      return true;
    }
    case "a":
      if (ask) openSheet("ask", ask);
      return true;
    case "f":
      if (worker) go({ worker, side: side === "files" ? "" : "files" });
      return true;
    case "h":
      if (mayWrite) openSheet("hire");
      return mayWrite;
    case "/":
      go({ screen: "search" });
      return true;
    case "i":
      document.querySelector<HTMLTextAreaElement>(".composer-field")?.focus();
      return true;
    default:
      return false;
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
