/** The parts that decide without a screen: rows on show, hidden characters, diffs, comments, routes, keys. */

import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { sends } from "../src/parts/composer";
import { asMessage, commentOn } from "../src/parts/diff/comments";
import { changedWords, type DiffLine, parseDiff } from "../src/parts/diff/parse";
import { lineAt, positionOf } from "../src/parts/diff/positions";
import { inTwo, shortFolder } from "../src/parts/folders";
import { PIXEL_NAMES, rows as pixelRows, SIZE } from "../src/parts/pixels";
import { address, readRoute } from "../src/parts/route";
import { isNearlyFull, MOST_ROWS, NEWEST, newer, older, pinned, placesOf, STEP } from "../src/parts/row-window";
import { rowOf } from "../src/parts/seek";
import { paletteColour } from "../src/parts/terminal/runs";
import { ago, dollars, running, span } from "../src/parts/times";
import { pieces, ShownWithCode } from "../src/parts/visible";
import { freeName } from "../src/screens/hire-sheet";
import { deviceName } from "../src/screens/pairing";
import { CHANGES } from "../src/state/fixture-files";

const LONG = Array.from({ length: 5000 }, (_, n) => ({ key: `k${n}` }));

test("of 5,000 rows never more than 300 are on the screen, whichever way one reads", () => {
  let window = NEWEST;
  expect(placesOf(LONG, window)).toEqual({ from: 4984, to: 5000 });
  for (let step = 0; step < LONG.length / STEP; step += 1) {
    const before = placesOf(LONG, window).from;
    window = older(LONG, window);
    const { from, to } = placesOf(LONG, window);
    // More at once would cost a frame.
    expect(before - from).toBeLessThanOrEqual(5);
    expect(to - from).toBeLessThanOrEqual(MOST_ROWS);
  }
  expect(placesOf(LONG, window).from).toBe(0);
  for (let step = 0; step < LONG.length / STEP; step += 1) window = newer(LONG, window);
  expect(placesOf(LONG, window).to).toBe(5000);
  expect(window.end).toBeNull();
});

test("older rows that come in before the window leave it where it is", () => {
  const window = older(LONG, NEWEST);
  const before = placesOf(LONG, window);
  const more = [...Array.from({ length: 60 }, (_, n) => ({ key: `old${n}` })), ...LONG];
  expect(placesOf(more, window)).toEqual({ from: before.from + 60, to: before.to + 60 });
});

test("what is read further up is not evicted, however many rows come in", () => {
  let window = NEWEST;
  for (let step = 0; step < 260 / STEP; step += 1) window = older(LONG, window);
  expect(isNearlyFull(LONG, window)).toBe(true);
  const before = placesOf(LONG, window);
  const kept = pinned(LONG, window);
  const more = [...LONG, ...Array.from({ length: 500 }, (_, n) => ({ key: `new${n}` }))];
  expect(placesOf(more, kept)).toEqual(before);
  expect(placesOf(more, newer(more, kept)).to).toBe(before.to + STEP);
});

test("characters that deceive are told by their code, and what is honest is left alone", () => {
  expect(pieces("git push", true)).toEqual(["git push"]);
  expect(pieces("rm \u202etxt.exe", true)).toEqual(["rm ", { odd: "U+202E" }, "txt.exe"]);
  expect(pieces("pаypal", true)).toEqual(["p", { odd: "U+0430" }, "ypal"]);
  expect(pieces("файл.txt", true)).toEqual(["файл.txt"]);
  expect(pieces("a\u00a0b", true)).toEqual(["a", { odd: "U+00A0" }, "b"]);
  expect(pieces("größer, 中文, naïve", true)).toEqual(["größer, 中文, naïve"]);
  expect(pieces("👩\u200d💻 ok ❤\ufe0f", false)).toEqual(["👩\u200d💻 ok ❤\ufe0f"]);
  expect(pieces("zero\u200bwidth", false)).toEqual(["zero", { odd: "U+200B" }, "width"]);
  expect(pieces("\u0007\u001b[31m", false)).toEqual([{ odd: "U+0007" }, { odd: "U+001B" }, "[31m"]);
});

test("a diff is read into files, hunks and numbers, and what is no diff into nothing", () => {
  const files = parseDiff(CHANGES);
  expect(files.map((file) => [file.path, file.added, file.removed])).toEqual([
    ["cart/session.py", 5, 4],
    ["cart/lock.py", 4, 0],
    ["tests/test_checkout.py", 6, 0],
  ]);
  expect(files[0]?.hunks[0]?.lines[4]).toEqual({
    kind: "removed",
    text: "        cart = self.store.get(key)",
    before: 42,
  });
  expect(files[2]?.note).toContain("new file");
  expect(parseDiff("pytest -q")).toEqual([]);
  expect(parseDiff("- a\n- b\n+ c")).toEqual([]);
  expect(changedWords("put(key, cart)", "put(key, cart, 1)")).toEqual({ start: 13, endOne: 13, endOther: 16 });
});

test("a removed line that begins like a file's name is still a line", () => {
  const [file] = parseDiff("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- a comment\n+++ b\n");
  expect(file?.hunks[0]?.lines.map((line) => line.text)).toEqual(["-- a comment", "++ b"]);
});

test("a line that one points at is found again when the changes are read anew", () => {
  const read = (patch: string) => parseDiff(patch)[0]?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  const before = read("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n one\n-two\n+deux\n+trois\n");
  const [, removed, added] = before as [DiffLine, DiffLine, DiffLine];
  const same = read("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n one\n-two\n+deux\n+trois\n");
  expect(lineAt(same, positionOf(added))).toBe(same[2]);
  expect(lineAt(same, positionOf(removed))).toBe(same[1]);
  const moved = read("--- a/x\n+++ b/x\n@@ -1,2 +1,4 @@\n+zero\n one\n-two\n+deux\n+trois\n");
  expect(lineAt(moved, positionOf(added))).toBe(moved[3]);
  const changed = read("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n one\n-two\n+zwei\n+drei\n");
  expect(lineAt(changed, positionOf(added))).toBe(changed[2]);
  const shorter = read("--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n one\n-two\n");
  expect(lineAt(shorter, positionOf(added))).toBe(shorter[0]);
  expect(lineAt([], positionOf(added))).toBeUndefined();
});

test("comments become one message with path, side, lines and quote", () => {
  const lines = parseDiff(CHANGES)[0]?.hunks[0]?.lines ?? [];
  const [removed, added, last] = [lines[4], lines[7], lines[9]];
  if (!removed || !added || !last) throw new Error("the fixture changed");
  const old = commentOn("cart/session.py", lines, removed, removed, "Why?");
  const range = commentOn("cart/session.py", lines, last, added, "Does ``` this hold?");
  expect([old.side, old.from, old.to]).toEqual(["old", 42, 42]);
  expect([range.side, range.from, range.to, range.quote.length]).toEqual(["new", 42, 44, 3]);
  const text = asMessage([old, range], "");
  expect(text).toContain("**cart/session.py**, old line 42:\n```diff\n-        cart = self.store.get(key)\n```\nWhy?");
  expect(text).toContain("line 42–44:");
});

test("an address is read back as it was written, and nonsense is the team", () => {
  const there = { screen: "team", worker: "än n/1", side: "files", about: "t/1", sheet: "ask:a!1" } as const;
  expect(readRoute(address(there))).toEqual(there);
  expect(readRoute("#/inbox")).toEqual({ screen: "inbox", worker: "", side: "", about: "", sheet: "" });
  expect(readRoute("#pair=ABCDE-12345").screen).toBe("team");
  expect(readRoute("#/%E0%A4%A!x").worker).toBe("");
});

test("enter is a newline on touch, and Ctrl+Enter always sends", () => {
  const key = (more: object) => ({
    key: "Enter",
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    isComposing: false,
    ...more,
  });
  expect(sends(key({}), true, true)).toBe(false);
  expect(sends(key({}), false, true)).toBe(true);
  expect(sends(key({}), false, false)).toBe(false);
  expect(sends(key({ shiftKey: true }), false, true)).toBe(false);
  expect(sends(key({ ctrlKey: true }), true, false)).toBe(true);
  expect(sends(key({ isComposing: true, ctrlKey: true }), false, true)).toBe(false);
});

test("every drawing is twelve by twelve", () => {
  for (const name of PIXEL_NAMES) {
    expect(pixelRows(name), name).toHaveLength(SIZE);
    for (const row of pixelRows(name)) expect(row, name).toMatch(/^[x.]{12}$/);
  }
});

test("times, sums and names are short", () => {
  expect([running(42), running(134), running(3800)]).toEqual(["0:42", "2:14", "1:03:20"]);
  expect([ago(100, 103), ago(100, 280), ago(0, 90_000)]).toEqual(["now", "3 min", "1 d"]);
  // Within "paired … ago" and "no connection for …" there is no "now".
  expect([span(100, 103), span(100, 280), span(100, 90)]).toEqual(["3 s", "3 min", "0 s"]);
  expect([dollars(0), dollars(0.004), dollars(2.412), dollars(null)]).toEqual(["", "<$0.01", "$2.41", ""]);
  expect(freeName(["ann", "ben"])).toBe("cora");
  expect(deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1")).toBe("Safari, iPhone");
});

test("a place that was found is the row with that number, once it is loaded", () => {
  const rows = [
    { key: "a", kind: "turn", seq: 10 },
    { key: "b", kind: "message" },
    { key: "c", kind: "turn", seq: 20 },
  ];
  expect(rowOf(rows, { worker: "ann", seq: 20 }, "ann")).toBe("c");
  expect(rowOf(rows, { worker: "ann", seq: 15 }, "ann")).toBe("a");
  expect(rowOf(rows, { worker: "ann", seq: 5 }, "ann")).toBe("");
  expect(rowOf(rows, { worker: "ann", seq: 20 }, "gus")).toBe("");
  expect([shortFolder("~/code/shop"), shortFolder("/home/me/code/big/shop")]).toEqual(["~/code/shop", "…/big/shop"]);
});

test("the 256 colours of a terminal are the usual ones", () => {
  expect([paletteColour(1), paletteColour(16), paletteColour(196), paletteColour(231), paletteColour(244)]).toEqual([
    "#ff6b6b",
    "#000000",
    "#ff0000",
    "#ffffff",
    "#808080",
  ]);
});

test("between backticks stands code, and a lone backtick is one", () => {
  const html = renderToString(h(ShownWithCode, { text: "`a <b>` hides it`s b" }));
  expect(html).toBe('<code class="in-line">a &lt;b></code> hides it`s b');
});

test("a folder is its own name and what is above it", () => {
  expect(inTwo("~/code/shop")).toEqual(["~/code/", "shop"]);
  expect(inTwo("/srv/shop/")).toEqual(["/srv/", "shop/"]);
  expect(inTwo("shop")).toEqual(["", "shop"]);
});
