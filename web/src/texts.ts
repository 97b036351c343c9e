/** Every sentence of the app in five languages, from one typed table: a key without a translation does not compile. */

import { signal } from "@preact/signals";
import type { Phrase } from "./state/types";
import { ASK_TEXTS } from "./texts/asks";
import { ATTENTION_TEXTS } from "./texts/attention";
import { CONVERSATION_TEXTS } from "./texts/conversation";
import { FAILURE_TEXTS } from "./texts/failures";
import { GENERAL_TEXTS } from "./texts/general";
import { MORE_TEXTS } from "./texts/more";
import { PHRASE_TEXTS } from "./texts/phrases";
import { REVIEW_TEXTS } from "./texts/review";
import { SPRINT_TEXTS } from "./texts/sprints";
import { TEAM_TEXTS } from "./texts/team";
import { VOICE_TEXTS } from "./texts/voice";

export const LANGUAGES = ["en", "de", "fr", "es", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];
/** A sentence in each language, in the order of LANGUAGES; `{name}` stands for a value. */
export type Sentence = readonly [en: string, de: string, fr: string, es: string, zh: string];

export const TEXTS = {
  ...GENERAL_TEXTS,
  ...TEAM_TEXTS,
  ...CONVERSATION_TEXTS,
  ...ASK_TEXTS,
  ...MORE_TEXTS,
  ...REVIEW_TEXTS,
  ...SPRINT_TEXTS,
  ...VOICE_TEXTS,
  ...ATTENTION_TEXTS,
  ...PHRASE_TEXTS,
  ...FAILURE_TEXTS,
};
export type TextKey = keyof typeof TEXTS;

export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  zh: "中文",
};

/** The language that is shown. */
export const language = signal<Language>("en");

/** The sentence in the language that is shown, with its values put in. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return fill(TEXTS[key][LANGUAGES.indexOf(language.value)] ?? TEXTS[key][0], values);
}

/** A sentence of the node: by its code in the language that is shown, as it came where this app does not know the code. */
export function told(sentence: string, phrase: Phrase | null | undefined): string {
  return phrase && isPhrase(phrase.code) ? t(phrase.code, phrase.values ?? {}) : sentence;
}

/** Why the node refused: by the error's code where the app knows it and has all its values, as it came otherwise. */
export function refusal(code: string, details: Readonly<Record<string, unknown>>, sentence: string): string {
  const key = `fail_${code}`;
  if (!Object.hasOwn(FAILURE_TEXTS, key)) return sentence;
  const known = FAILURE_TEXTS[key as keyof typeof FAILURE_TEXTS];
  const wanted = [...known[0].matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? "");
  if (wanted.some((name) => typeof details[name] !== "string")) return sentence;
  return t(key as TextKey, Object.fromEntries(wanted.map((name) => [name, String(details[name])])));
}

/** A sentence as it begins: the node's reasons are also said after a colon. */
export function begun(sentence: string): string {
  return sentence.slice(0, 1).toLocaleUpperCase(language.value) + sentence.slice(1);
}

function isPhrase(code: string): code is keyof typeof PHRASE_TEXTS {
  return Object.hasOwn(PHRASE_TEXTS, code);
}

/** The first language of the person that the app speaks; English where it speaks none. */
export function preferred(wanted: readonly string[]): Language {
  const found = wanted.map((one) => LANGUAGES.find((known) => one.toLowerCase().split("-", 1)[0] === known));
  return found.find((one) => one !== undefined) ?? "en";
}

function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
