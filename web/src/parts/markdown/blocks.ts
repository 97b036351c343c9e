/** Splits an answer into Markdown blocks and, while it grows, lexes only the last one anew. Pure. */

import { Lexer, type Token } from "marked";
import remend from "remend";

/** A block that is shown: its source and, where it could be read, its tokens. */
export type Block = { raw: string; tokens: Token[] };

/** What is known of an answer so far: the blocks that cannot change any more, and how long their source is. */
export type Answer = { source: string; closed: Block[]; closedLength: number; open: Block[] };

export const NOTHING: Answer = { source: "", closed: [], closedLength: 0, open: [] };
// A block that is longer is shown as it is: nobody reads it, and lexing it would hold up the screen.
const LONGEST_BLOCK = 60_000;

/** The answer after its source became this; `streaming` heals what is still open at the end. */
export function grow(before: Answer, source: string, streaming: boolean): Answer {
  const text = source.replace(/\r\n?/g, "\n");
  const same = text.length >= before.closedLength && text.startsWith(before.source.slice(0, before.closedLength));
  const closed = same ? before.closed : [];
  const start = same ? before.closedLength : 0;
  const fresh = lex(text.slice(start));
  const last = lastBlock(fresh);
  const done = fresh.slice(0, last);
  const open = fresh.slice(last);
  const closedLength = start + done.reduce((sum, block) => sum + block.raw.length, 0);
  return {
    source: text,
    closed: done.length ? [...closed, ...done] : closed,
    closedLength,
    open: streaming ? open.flatMap(healed) : open,
  };
}

/** All blocks, in order. */
export function blocks(answer: Answer): Block[] {
  return [...answer.closed, ...answer.open];
}

function lex(text: string): Block[] {
  if (!text) return [];
  if (text.length > LONGEST_BLOCK && !text.includes("\n\n")) return [{ raw: text, tokens: [] }];
  try {
    const tokens = new Lexer({ gfm: true, breaks: true }).lex(text);
    const whole = tokens.reduce((sum, token) => sum + token.raw.length, 0);
    // Where the lexer rewrote its source (tabs in lists), the pieces no longer add up: then it is one block.
    if (whole !== text.length) return [{ raw: text, tokens }];
    return tokens.map((token) => ({ raw: token.raw, tokens: [token] }));
  } catch {
    return [{ raw: text, tokens: [] }];
  }
}

/** Where the block begins that what comes next may still belong to. */
function lastBlock(found: Block[]): number {
  let index = found.length - 1;
  while (index > 0 && found[index]?.tokens[0]?.type === "space") index -= 1;
  return Math.max(index, 0);
}

function healed(block: Block): Block[] {
  const [first] = block.tokens;
  if (!first || first.type === "space" || first.type === "code" || block.raw.length > LONGEST_BLOCK) return [block];
  try {
    const whole = remend(block.raw, { katex: false, images: false, links: false });
    return whole === block.raw
      ? [block]
      : [{ raw: block.raw, tokens: new Lexer({ gfm: true, breaks: true }).lex(whole) }];
  } catch {
    return [block];
  }
}
