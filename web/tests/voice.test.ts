/** Voice: who turns speech into text, and what becomes of the words. */

import { expect, test } from "vitest";
import { spokenProblem } from "../src/parts/voice";
import { wayOf } from "../src/parts/voice-note";
import { joined } from "../src/state/voice";

test.each([
  ["auto", true, true, "node"],
  ["auto", true, false, "browser"],
  ["auto", false, true, "node"],
  ["auto", false, false, ""],
  ["browser", true, true, "browser"],
  ["browser", false, true, "node"],
  ["node", true, false, "browser"],
] as const)("with the wish %s, a browser %s and a node %s that can, it is %s", (wish, browser, node, way) => {
  expect(wayOf(wish, { browser, node })).toBe(way);
});

test("words that were heard come after what was written", () => {
  expect(joined("", "run the tests")).toBe("run the tests");
  expect(joined("first look, ", "then run")).toBe("first look, then run");
});

test.each([
  ["not-allowed", "The browser gives no microphone to this page."],
  ["audio-capture", "The browser gives no microphone to this page."],
  ["no-speech", "Nothing was heard."],
  ["network", "The browser’s recognition failed: network."],
  ["aborted", ""],
])("of the recognition's error %s is told: %s", (error, told) => {
  expect(spokenProblem(error)).toBe(told);
});
