/** Shows characters that an eye cannot see or would take for others as their code; the same rules as model/visible.py. */

import { Fragment } from "preact";

const HIDDEN = /[\p{Cf}\p{Cc}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u;
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for alone
const BLANK = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;
const OTHER_SPACE = /[\p{Zs}]/u;
const LOOKALIKES = new Set(
  "аеорсухіјѕԁһԛԝӏѵүԌАВЕКМНОРСТУХІЈЅӀѴҮԚԜαοιυνρκϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϜօոսհցզյՕՍɑɡıɩǀǃᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ" +
    "∕⁄⧸⟋∖⧵․‐‑−٭∗∼∣∶꞉˸：；＂＇｀＄＆｜＜＞（）",
);
const LATIN = /[A-Za-z0-9]/;
const ASCII = /^[\x20-\x7e\n\t]*$/;
const LETTERS = /\p{L}+/gu;
// In prose an emoji may be joined of several, and a script may need its joiners; nothing else that is hidden is harmless.
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for alone
const JOINERS = /[\u200c\u200d\ufe0e\ufe0f]/;

export type Piece = string | { odd: string };

/** The text in pieces: what is seen as it is, and the characters that are told by their code.
 *
 * `prose` leaves emoji whole and letters of other scripts alone; a command, code and an address are shown strictly. */
export function pieces(text: string, strict: boolean): Piece[] {
  if (ASCII.test(text)) return text ? [text] : [];
  const found: Piece[] = [];
  let plain = "";
  const push = (odd: string) => {
    if (plain) found.push(plain);
    plain = "";
    found.push({ odd });
  };
  for (const word of text.split(/(\s+)/u)) {
    const own = strict ? foreignPlaces(word) : undefined;
    let place = 0;
    for (const one of word) {
      if (isOdd(one, strict) || (own && passes(one) && !own.has(place))) push(code(one));
      else plain += one;
      place += 1;
    }
  }
  if (plain) found.push(plain);
  return found;
}

function isOdd(one: string, strict: boolean): boolean {
  if (one === "\n" || one === "\t" || one === " ") return false;
  if (!strict && JOINERS.test(one)) return false;
  if (HIDDEN.test(one) || BLANK.test(one)) return true;
  return strict && OTHER_SPACE.test(one);
}

/** The places of letters that are among those of their own script; undefined where nothing in the word can deceive. */
function foreignPlaces(word: string): Set<number> | undefined {
  if (ASCII.test(word) || !LATIN.test(word)) return undefined;
  const own = new Set<number>();
  for (const run of word.matchAll(LETTERS)) {
    const others = [...run[0]].filter((one) => !passes(one));
    if (others.length === 0 || others.some((one) => /\p{Script=Latin}/u.test(one))) continue;
    const start = [...word.slice(0, run.index)].length;
    for (const index of [...run[0]].keys()) own.add(start + index);
  }
  return own;
}

function passes(one: string): boolean {
  if (one <= "\x7f") return false;
  if (LOOKALIKES.has(one)) return true;
  const same = one.normalize("NFKC");
  return same.length === 1 && same <= "\x7f" && !/[\u00aa\u00ba\u00b2\u00b3\u00b9\u2070-\u209c]/.test(one);
}

function code(one: string): string {
  return `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A sentence in which what stands between backticks is code. */
export function ShownWithCode({ text }: { text: string }) {
  return (
    <Fragment>
      {text.split(/`([^`\n]+)`/).map((part, place) =>
        place % 2 ? (
          <code key={place} class="in-line">
            <Shown text={part} strict />
          </code>
        ) : (
          <Shown key={place} text={part} />
        ),
      )}
    </Fragment>
  );
}

/** Text as it may be shown: plain text nodes and marked codes. */
export function Shown({ text, strict = false }: { text: string; strict?: boolean }) {
  const parts = pieces(text, strict);
  return (
    <Fragment>
      {parts.map((part) => (typeof part === "string" ? part : <span class="odd">‹{part.odd}›</span>))}
    </Fragment>
  );
}
