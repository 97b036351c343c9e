/** Times and sums as a person reads them on a small screen. Pure, but for the language. */

import type { Usage } from "../state/types";
import { t } from "../texts";

/** How long something has been running: 0:42, 2:14, 1:03:20. */
export function running(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** How long ago: now, 3 min, 1 h, 2 d. */
export function ago(at: number, now: number): string {
  return now - at < 10 ? t("now") : span(at, now);
}

/** How long it was, for a sentence that has no place for "now". */
export function span(at: number, now: number): string {
  const seconds = Math.max(0, now - at);
  if (seconds < 60) return t("seconds", { n: Math.floor(seconds) });
  if (seconds < 3600) return t("minutes", { n: Math.floor(seconds / 60) });
  if (seconds < 86_400) return t("hours", { n: Math.floor(seconds / 3600) });
  return t("days", { n: Math.floor(seconds / 86_400) });
}

/** The time of the day, in the person's way; with the day where it is not today. */
export function clockTime(at: number, now: number, language: string): string {
  const locale = localeOf(language);
  const date = new Date(at * 1000);
  const time = date.toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" });
  if (new Date(now * 1000).toDateString() === date.toDateString()) return time;
  return `${date.toLocaleDateString(locale, { day: "numeric", month: "short" })} ${time}`;
}

/** Dollars: $0.42, and <$0.01 for what is less. */
export function dollars(sum: number | null | undefined): string {
  if (!sum) return "";
  return sum < 0.01 ? "<$0.01" : `$${sum.toFixed(2)}`;
}

/** Bytes: 640 kB, 1.2 MB. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${Math.round(count / 1000)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

/** Tokens: 950, 21k, 1.2M. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** The person's own way of writing times in this language: English is read with and without a.m. */
function localeOf(language: string): string {
  return globalThis.navigator?.languages?.find((one) => one.split("-", 1)[0] === language) ?? language;
}

const NEAR_PERCENT = 80;

/** How much of a usage window is used: `5h 42 %`. */
export function windowWords(window: NonNullable<Usage["windows"]>[number]): string {
  return `${window.name} ${Math.round(window.used_percent)} %`.trim();
}

/** The fullest window of an account, once little of it is left. */
export function nearLimit(usage: Usage): string {
  const fullest = [...(usage.windows ?? [])].sort((one, other) => other.used_percent - one.used_percent)[0];
  return fullest && fullest.used_percent >= NEAR_PERCENT ? windowWords(fullest) : "";
}
