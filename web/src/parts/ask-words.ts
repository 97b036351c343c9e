/** What an ask is about, in the app's own words, and how its choices divide. Pure, but for the language. */

import type { Choice, OpenAsk } from "../state/types";
import { type TextKey, t, told } from "../texts";

const KINDS: Readonly<Record<string, TextKey>> = {
  run: "wantsToRun",
  write: "wantsToWrite",
  edit: "wantsToEdit",
  delete: "wantsToDelete",
  read: "wantsToRead",
  fetch: "wantsToFetch",
  call: "wantsToUse",
};

/** What the worker wants, as the end of a sentence that begins with its name. */
export function wants(ask: Pick<OpenAsk, "about" | "action">): string {
  if (ask.about === "plan") return t("hasAPlan");
  if (ask.about === "choice") return t("hasAQuestion");
  if (ask.about === "folder") return t("asksToTrustFolder");
  const key = ask.action ? KINDS[ask.action.kind] : undefined;
  return key ? t(key, { tool: ask.action?.tool ?? "" }) : t("asksLeave");
}

/** The whole of what would be done: the detail, or the target where there is none. */
export function whole(ask: Pick<OpenAsk, "detail" | "action" | "question">): string {
  return ask.detail || ask.action?.target || ask.question;
}

/** How many letters stand in a line of a card on the smallest phone, and how many of those lines it shows at most. */
const LINE_LETTERS = 32;
const MOST_ROWS = 10;
const MOST_LINES = 8;

/** What is told beside the whole, because it is not in there: empty where it is. */
export function beside(ask: Pick<OpenAsk, "detail" | "action" | "question">): string {
  return whole(ask).includes(headline(ask)) ? "" : headline(ask);
}

/** The lines that a card shows of it, and how many more there are: what is not shown whole is not answered there. */
export function onCard(ask: Pick<OpenAsk, "detail" | "action" | "question">): {
  readonly lines: readonly string[];
  readonly more: number;
} {
  const lines = whole(ask).split("\n");
  let room = MOST_ROWS - (beside(ask) ? rowsOf(beside(ask)) : 0);
  const shown: string[] = [];
  for (const line of lines) {
    room -= rowsOf(line);
    if (room < 0 || shown.length === MOST_LINES) break;
    shown.push(line);
  }
  return { lines: shown, more: lines.length - shown.length };
}

function rowsOf(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_LETTERS)), 0);
}

export interface Sides {
  /** What allows or chooses, the narrowest first. */
  readonly allowing: readonly Choice[];
  readonly denying: readonly Choice[];
}

/** The choices that allow and those that refuse. */
export function sides(choices: readonly Choice[]): Sides {
  return {
    allowing: choices.filter((choice) => choice.allows !== false),
    denying: choices.filter((choice) => choice.allows === false),
  };
}

/** The choice that allows this one time and nothing more; nothing where none is plainly that. */
export function onceOnly(choices: readonly Choice[]): Choice | undefined {
  const narrow = sides(choices).allowing.filter((choice) => !choice.scope && !choice.words);
  return narrow.length === 1 ? narrow[0] : undefined;
}

/** All that a choice allows, as it stands beside it: its scope whole, or that it is this one time. */
export function scopeOf(choice: Choice, ask: Pick<OpenAsk, "about">): string {
  if (choice.scope) return told(choice.scope, choice.scope_phrase);
  return ask.about === "permission" && choice.allows !== false && !choice.words ? t("exactlyThis") : "";
}

export interface Risk {
  readonly text: string;
  /** It is what work in a folder is made of anyway: told, but not in red. */
  readonly mild: boolean;
}

/** The risks as the person reads them; what the node calls routine is mild, everything else is not. */
export function risksOf(ask: Pick<OpenAsk, "risks" | "riskPhrases">): readonly Risk[] {
  return ask.risks.map((risk, place) => {
    const phrase = ask.riskPhrases[place];
    return { text: told(risk, phrase), mild: phrase?.code.startsWith("routine_") ?? false };
  });
}

/** The question as the person reads it. */
export function questionOf(ask: Pick<OpenAsk, "question" | "questionPhrase">): string {
  return told(ask.question, ask.questionPhrase);
}

/** What a choice's button says. */
export function labelOf(choice: Choice): string {
  return told(choice.label, choice.label_phrase);
}

/** A question's headline without the verb that the app says itself. */
export function headline(ask: Pick<OpenAsk, "question" | "action">): string {
  return ask.action?.target || ask.question;
}
