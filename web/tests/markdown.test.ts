/** An agent's answer is shown, never run: whatever it is made of, what comes out is text, our own elements and safe links. */

import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { blocks, grow, NOTHING } from "../src/parts/markdown/blocks";
import { safeLink, saysWhere } from "../src/parts/markdown/links";
import { Markdown } from "../src/parts/markdown/markdown";

const ELEMENTS = new Set(
  (
    "div p h3 a span strong em del code pre br hr ul ol li blockquote table thead tbody tr th td section figure figcaption " +
    "button svg path mark"
  ).split(" "),
);
const ATTRIBUTES = new Set(
  (
    "class href target rel start role aria-label aria-pressed aria-hidden title type tabindex data-on width height viewBox " +
    "shape-rendering d fill"
  ).split(" "),
);
const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g;

function shown(text: string, streaming = false): string {
  return renderToString(h(Markdown, { text, streaming }));
}

/** Fails where the markup has an element, an attribute or an address that the app did not make. */
function expectHarmless(html: string): void {
  const rest = html.replace(TAG, (_whole, _close, name: string, attributes: string) => {
    expect(ELEMENTS).toContain(name);
    for (const [, attribute, value] of attributes.matchAll(/\s([a-zA-Z-]+)(?:="([^"]*)")?/g)) {
      expect(ATTRIBUTES).toContain(attribute);
      if (attribute === "href") expect(value).toMatch(/^(https?:\/\/|mailto:)/);
    }
    return "";
  });
  expect(rest).not.toContain("<");
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
  "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>1</script>) [d](vbscript:x)",
  "[e](java\tscript:alert(1)) [f](&#106;avascript:alert(1)) [g]( javascript:alert(1))",
  "![x](javascript:alert(1)) ![y](http://tracker.example/a.png)",
  "<a href='https://evil.example' onclick='x'>click</a>",
  "[x](https://user:pass@evil.example/) [github.com](https://evil.example)",
  "<javascript:alert(1)> <https://ok.example>",
  "`<b>` **<i>x</i>** ~~<u>~~",
  '```html\n<script>alert("x")</script>\n```',
  "| <b>a</b> | b |\n|---|---|\n| <script>1</script> | [x](javascript:1) |",
  "- [ ] <input autofocus onfocus=alert(1)>\n- [x] y",
  "<iframe srcdoc='<script>1</script>'></iframe>\n\n<style>*{display:none}</style>",
  "[ref]: javascript:alert(1)\n\n[ref]",
  '"><script>alert(1)</script>',
  "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img&#62;",
];

test.each(HOSTILE)("hostile: %j", (text) => {
  expectHarmless(shown(text));
  expectHarmless(shown(text, true));
});

test("what an agent wrote as HTML is read as text", () => {
  expect(shown("<script>alert(1)</script>")).toContain("&lt;script>alert(1)&lt;/script>");
  expect(shown("&lt;b&gt;")).toContain("&lt;b>");
});

test("no picture is fetched from elsewhere, and a link says where it leads", () => {
  expect(shown("![cat](https://tracker.example/a.png)")).not.toContain("<img");
  expect(shown("[github.com](https://evil.example/x)")).toContain("evil.example)");
  expect(shown("[evil.example/x](https://evil.example/x)")).not.toContain("(evil.example");
});

test("where a link leads is left out only where its words are that very address", () => {
  const link = { href: "https://example/x", host: "example" };
  for (const words of ["example", "https://example", "https://example/x?y", "HTTP://EXAMPLE/"]) {
    expect(saysWhere(words, link)).toBe(true);
  }
  for (const words of ["https://bank.example", "https://bank.com/example", "the example", "example.com", ""]) {
    expect(saysWhere(words, link)).toBe(false);
  }
});

test("only whole addresses of the web and of mail become links", () => {
  expect(safeLink("https://example.org/a?b=1")?.host).toBe("example.org");
  expect(safeLink("mailto:a@example.org")?.href).toBe("mailto:a@example.org");
  // A host in letters that pass for Latin ones is told by its real name.
  expect(safeLink("https://аpple.com/")?.host).toBe("xn--pple-43d.com");
  for (const bad of [
    "javascript:1",
    "/a",
    "a.html",
    "file:///etc/passwd",
    "https://a:b@c.de",
    "ht\ntps://x.de",
    "//x.de",
    "",
  ]) {
    expect(safeLink(bad)).toBeUndefined();
  }
});

test("deep nesting and long lines cost nothing but their layout", () => {
  expectHarmless(shown(`${">".repeat(3000)} deep`));
  expectHarmless(shown("[".repeat(3000)));
  expectHarmless(shown(`${"*".repeat(2000)}a${"*".repeat(2000)}`));
  expectHarmless(shown(`${"- ".repeat(400)}x`));
  expectHarmless(shown("`".repeat(5001)));
  expectHarmless(shown("x".repeat(200_000)));
});

const PIECES = [
  "**",
  "*",
  "_",
  "~~",
  "`",
  "```",
  "\n",
  "\n\n",
  "    ",
  "- ",
  "1. ",
  "> ",
  "# ",
  "|",
  "|---|",
  "[",
  "](",
  ")",
  "![",
  "<",
  ">",
  "</",
  "<script>",
  "<!--",
  "-->",
  "javascript:",
  "https://a.de",
  "&lt;",
  "&#0;",
  "\\",
  "\t",
  "\u202e",
  "\u200b",
  "🙂",
  "中文",
  "word",
  " ",
  "$$",
  "[^1]",
  "[ ] ",
  "===",
  "---",
  "\u0000",
  "\ud800",
  "a@b.de",
  "on=",
  '"',
  "'",
  "{",
  "}",
];

/** A generator with a seed, so that a failure can be seen again. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state;
  }
}

test("fuzzed Markdown never throws and never becomes HTML, whole or while it streams", () => {
  const random = numbers(20261116);
  const next = (below: number) => (random.next().value as number) % below;
  for (let round = 0; round < 600; round += 1) {
    const text = Array.from({ length: 1 + next(40) }, () => PIECES[next(PIECES.length)]).join("");
    expectHarmless(shown(text, round % 2 === 0));
  }
});

test("an answer that grows piece by piece ends as it would have been read at once", () => {
  const text =
    "# One\n\ntwo **three** `four`\n\n- a\n- b\n\n```py\nx = 1\n\ny = 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n\nend [x](https://a.de)";
  let answer = NOTHING;
  for (let length = 0; length <= text.length; length += 3) answer = grow(answer, text.slice(0, length), true);
  answer = grow(answer, text, false);
  const whole = grow(NOTHING, text, false);
  expect(blocks(answer).map((block) => block.raw)).toEqual(blocks(whole).map((block) => block.raw));
  expect(blocks(answer)).toEqual(blocks(whole));
});

test("blocks that are done are not read again while the last one grows", () => {
  const first = grow(NOTHING, "one\n\ntwo\n\nthr", true);
  const second = grow(first, "one\n\ntwo\n\nthree and more", true);
  expect(second.closed[0]).toBe(first.closed[0]);
  expect(second.open.at(-1)?.raw).toBe("three and more");
});

test("an answer that is replaced by another is read anew", () => {
  const first = grow(NOTHING, "one\n\ntwo\n\nthree", true);
  expect(blocks(grow(first, "eins\n\nzwei", false)).map((block) => block.raw)).toEqual(["eins", "\n\n", "zwei"]);
});
