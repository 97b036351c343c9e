/** Comments on lines of a diff, and the one message that they become. Pure. */

import type { DiffLine } from "./parse";

export interface LineComment {
  readonly path: string;
  /** Numbers of a removed line are those of the old file. */
  readonly side: "old" | "new";
  readonly from: number;
  readonly to: number;
  readonly quote: readonly string[];
  readonly text: string;
}

/** The number of a line on its side. */
export function numberOf(line: DiffLine): number {
  return line.after ?? line.before ?? 0;
}

/** A comment on the lines between two, whichever was tapped first. */
export function commentOn(
  path: string,
  lines: readonly DiffLine[],
  one: DiffLine,
  other: DiffLine,
  text: string,
): LineComment {
  const [first, last] = [lines.indexOf(one), lines.indexOf(other)].sort((a, b) => a - b);
  const picked = lines.slice(first, (last ?? 0) + 1);
  const side = picked.every((line) => line.kind === "removed") ? "old" : "new";
  const numbered = picked.filter((line) => (side === "old" ? line.before : line.after) !== undefined);
  const numbers = numbered.map((line) => (side === "old" ? line.before : line.after) ?? 0);
  return { path, side, from: Math.min(...numbers), to: Math.max(...numbers), quote: picked.map(marked), text };
}

/** All comments as one message: path, lines, what stands there, and what is said about it. */
export function asMessage(comments: readonly LineComment[], opening: string): string {
  const parts = comments.map((comment) => {
    const lines = comment.from === comment.to ? `${comment.from}` : `${comment.from}–${comment.to}`;
    const where = comment.side === "old" ? `old line ${lines}` : `line ${lines}`;
    return `**${comment.path}**, ${where}:\n${fenced(comment.quote.join("\n"))}\n${comment.text.trim()}`;
  });
  return [opening, ...parts].filter(Boolean).join("\n\n");
}

function marked(line: DiffLine): string {
  return `${line.kind === "added" ? "+" : line.kind === "removed" ? "-" : " "}${line.text}`;
}

/** A fence that nothing in the quote can close. */
function fenced(quote: string): string {
  const longest = Math.max(2, ...[...quote.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${quote}\n${fence}`;
}
