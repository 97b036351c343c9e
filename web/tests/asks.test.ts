/** What an ask offers: nothing wider than this one time is ever chosen beforehand or hidden behind a button. */

import { expect, test } from "vitest";
import {
  beside,
  labelOf,
  onCard,
  onceOnly,
  questionOf,
  risksOf,
  scopeOf,
  sides,
  wants,
  whole,
} from "../src/parts/ask-words";
import { firstMade } from "../src/screens/ask-sheet";
import type { Choice } from "../src/state/types";
import { language } from "../src/texts";

const ONCE: Choice = { id: "once", label: "Allow once" };
const SESSION: Choice = { id: "session", label: "For this session", scope: "git push … until it ends" };
const WORDS: Choice = { id: "other", label: "Something else", words: true };
const DENY: Choice = { id: "deny", label: "Deny", allows: false, words: true };

test("allow once is the choice without a scope, and only where there is one", () => {
  expect(onceOnly([SESSION, ONCE, DENY])).toBe(ONCE);
  expect(onceOnly([SESSION, DENY])).toBeUndefined();
  expect(onceOnly([ONCE, { id: "also", label: "Yes" }, DENY])).toBeUndefined();
  expect(onceOnly([WORDS, DENY])).toBeUndefined();
  expect(sides([ONCE, SESSION, DENY])).toEqual({ allowing: [ONCE, SESSION], denying: [DENY] });
});

test("the sheet opens with the narrowest leave, and a questionnaire with none", () => {
  expect(firstMade({ about: "permission", choices: [SESSION, ONCE, DENY] })).toEqual(["once"]);
  expect(firstMade({ about: "permission", choices: [SESSION, DENY] })).toEqual([]);
  expect(firstMade({ about: "choice", choices: [ONCE, SESSION] })).toEqual([]);
});

test("a scope is shown whole, and its absence means exactly this one time", () => {
  expect(scopeOf(SESSION, { about: "permission" })).toBe("git push … until it ends");
  expect(scopeOf(ONCE, { about: "permission" })).toBe("exactly this, one time");
  expect(scopeOf(DENY, { about: "permission" })).toBe("");
  expect(scopeOf(ONCE, { about: "choice" })).toBe("");
});

test("what runs is told whole, and what is asked for in words", () => {
  expect(whole({ question: "Run: a", detail: "a\nb", action: { kind: "run", target: "a" } })).toBe("a\nb");
  expect(whole({ question: "Run: a", detail: "", action: { kind: "run", target: "a" } })).toBe("a");
  expect(wants({ about: "permission", action: { kind: "call", tool: "Browser" } })).toBe("wants to use Browser");
  expect(wants({ about: "permission", action: null })).toBe("asks for leave");
  expect(wants({ about: "plan", action: null })).toBe("has a plan");
});

test("a card shows a command whole, or says how much more there is: a long line is cut off, too", () => {
  const ask = (detail: string) => ({ question: "Run it", detail, action: { kind: "run" as const, target: detail } });
  expect(onCard(ask("git push"))).toEqual({ lines: ["git push"], more: 0 });
  expect(onCard(ask(Array.from({ length: 9 }, (_, n) => `line ${n}`).join("\n"))).more).toBe(1);
  expect(onCard(ask(`echo ${"a".repeat(300)} && rm -rf /`)).more).toBe(0);
  expect(onCard(ask(`echo ${"a".repeat(400)} && rm -rf /`))).toEqual({ lines: [], more: 1 });
});

test("what runs is told beside a detail that does not have it, and takes its room", () => {
  const asked = {
    question: "Make it",
    detail: "the agent's own words",
    action: { kind: "run" as const, target: "touch x" },
  };
  expect(beside(asked)).toBe("touch x");
  expect(beside({ ...asked, detail: "touch x && ls" })).toBe("");
  expect(onCard({ ...asked, action: { kind: "run", target: "a".repeat(400) } }).more).toBe(1);
});

test("what the node says by code is read in the person's language, and what it says otherwise as it came", () => {
  const risks = ["writes in the folder", "uses the network: x.org", "eats cake", "as it came"];
  const riskPhrases = [
    { code: "routine_writes" },
    { code: "risk_network_hosts", values: { hosts: "x.org" } },
    { code: "risk_of_a_newer_node" },
  ];
  const lasting: Choice = {
    id: "always",
    label: "Always allow Bash(ls:*)",
    label_phrase: { code: "label_always_allow_what", values: { what: "Bash(ls:*)" } },
    scope: "This very command, letter by letter, until its session ends or it is relaunched.",
    scope_phrase: { code: "scope_command" },
  };
  language.value = "de";
  try {
    expect(risksOf({ risks, riskPhrases })).toEqual([
      { text: "schreibt im Ordner", mild: true },
      { text: "benutzt das Netz: x.org", mild: false },
      { text: "eats cake", mild: false },
      { text: "as it came", mild: false },
    ]);
    expect(labelOf(lasting)).toBe("Bash(ls:*) immer erlauben");
    expect(scopeOf(lasting, { about: "permission" })).toContain("Genau dieser Befehl");
    expect(labelOf(ONCE)).toBe("Allow once");
    expect(questionOf({ question: "Go ahead?", questionPhrase: { code: "question_plan" } })).toBe(
      "Mit diesem Plan loslegen?",
    );
    // A code is looked up among the phrases alone, and no other key of the table is one.
    expect(questionOf({ question: "Go ahead?", questionPhrase: { code: "allow" } })).toBe("Go ahead?");
  } finally {
    language.value = "en";
  }
});
