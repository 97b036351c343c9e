/** The app's settings as they are before anybody changed them, and as they are read from what was stored. */

import type { Settings } from "./types";

export const USUAL: Settings = {
  theme: "system",
  language: "system",
  wrapCode: true,
  wrapDiff: true,
  enterSends: true,
  textSize: "normal",
  voice: "auto",
  toured: false,
  push: true,
};

const ALLOWED: { readonly [K in keyof Settings]: readonly Settings[K][] } = {
  theme: ["system", "dark", "light"],
  language: ["system", "en", "de", "fr", "es", "zh"],
  wrapCode: [true, false],
  wrapDiff: [true, false],
  enterSends: [true, false],
  textSize: ["small", "normal", "large"],
  voice: ["auto", "browser", "node"],
  toured: [true, false],
  push: [true, false],
};

/** What was stored, field by field; what is no setting any more is left out. */
export function readSettings(stored: unknown): Settings {
  const given = typeof stored === "object" && stored !== null ? (stored as Record<string, unknown>) : {};
  const kept = Object.entries(ALLOWED).filter(([name, values]) => (values as readonly unknown[]).includes(given[name]));
  return { ...USUAL, ...Object.fromEntries(kept.map(([name]) => [name, given[name]])) };
}
