/** Every sentence stands in every language, with the same values to put in. */

import { expect, test } from "vitest";
import { LANGUAGES, language, preferred, refusal, TEXTS, t } from "../src/texts";

const VALUES = /\{(\w+)\}/g;

test.each(Object.entries(TEXTS))("%s is whole in all languages", (_key, sentence) => {
  expect(sentence).toHaveLength(LANGUAGES.length);
  const values = (text: string) => [...text.matchAll(VALUES)].map((found) => found[1]).sort();
  for (const text of sentence) {
    expect(text.trim()).not.toBe("");
    expect(values(text)).toEqual(values(sentence[0]));
  }
});

test("most sentences differ between languages: none was left in English", () => {
  for (const [place, name] of LANGUAGES.entries()) {
    if (place === 0) continue;
    const same = Object.values(TEXTS).filter((sentence) => sentence[place] === sentence[0] && sentence[0].length > 12);
    expect(same, name).toEqual([]);
  }
});

test("values are put in, and the language is the first that the app speaks", () => {
  language.value = "de";
  expect(t("limitedUntil", { time: "14:00" })).toBe("Limit bis 14:00");
  language.value = "en";
  expect(preferred(["pt-BR", "fr-CA", "en"])).toBe("fr");
  expect(preferred(["tlh"])).toBe("en");
});

test("a refusal of the node is said in the person's language, and as it came where a value or the words are missing", () => {
  language.value = "de";
  expect(refusal("name_taken", { name: "ann" }, "There is …")).toContain("namens ann");
  expect(refusal("name_taken", {}, "There is …")).toBe("There is …");
  expect(refusal("constructor", {}, "No.")).toBe("No.");
  language.value = "en";
});
