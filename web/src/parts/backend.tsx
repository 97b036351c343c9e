/** Each backend's colour, sign and name, wherever a worker is shown. */

import { Icon } from "./icon";
import type { PixelName } from "./pixels";

/** `tries` are words that show somebody new what it can do. */
export type Brand = { name: string; sign: PixelName; colour: string; tries?: readonly string[] };

const BRANDS: Record<string, Brand> = {
  claude: { name: "Claude", sign: "claude", colour: "claude" },
  codex: { name: "Codex", sign: "codex", colour: "codex" },
  gemini: { name: "Gemini", sign: "gemini", colour: "gemini" },
  opencode: { name: "OpenCode", sign: "opencode", colour: "opencode" },
  native: { name: "Farhand", sign: "hand", colour: "native" },
  demo: { name: "Demo", sign: "demo", colour: "native", tries: ["help", "stream", "ask", "diff", "image"] },
  bridge: { name: "Bridge", sign: "agent", colour: "other" },
};

/** How a backend is shown; one that nobody here knows has a sign of its own, too. */
export function brandOf(backend: string): Brand {
  return BRANDS[backend] ?? { name: backend, sign: "agent", colour: "other" };
}

/** The class that sets the backend's colour for all that is in it. */
export function tint(backend: string): string {
  return `of-${brandOf(backend).colour}`;
}

export function Sign({ backend }: { backend: string }) {
  return (
    <span class={`sign ${tint(backend)}`}>
      <Icon name={brandOf(backend).sign} />
    </span>
  );
}
