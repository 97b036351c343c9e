/** A terminal's screen as runs of text that look alike, from xterm's buffer; and the colours that they have. */

import type { IBuffer, IBufferCell } from "@xterm/xterm";

export interface Run {
  readonly text: string;
  readonly ink: string;
  readonly ground: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly underline: boolean;
}

const ANSI = (
  "#1b1e25 #ff6b6b #7fd88f #ffb454 #6ea8ff #c79bd8 #5fc9c9 #d6d6d6 " +
  "#838895 #ff8f8f #a5e8b1 #ffd08a #9cc4ff #dcb8ea #8fe0e0 #ffffff"
).split(" ");
// Signs of agents' screens that few phones have, and what looks like them in every monospaced font.
const FALLBACKS: Readonly<Record<string, string>> = { "⎿": "└", "⏵": "▸", "⏺": "●", "⧉": "▣" };
const STEPS = [0, 95, 135, 175, 215, 255];

/** The colour with that number of the 256. */
export function paletteColour(number: number): string {
  if (number < 16) return ANSI[number] ?? "";
  if (number >= 232) return grey(8 + (number - 232) * 10);
  const place = number - 16;
  const part = (step: number) => hex(STEPS[step % 6] ?? 0);
  return `#${part(Math.floor(place / 36))}${part(Math.floor(place / 6) % 6)}${part(place % 6)}`;
}

/** The lines that are on the screen now, and where the cursor stands. */
export function screenOf(buffer: IBuffer, rows: number, columns: number): readonly (readonly Run[])[] {
  return Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.baseY + row);
    const cursor = row === buffer.cursorY ? buffer.cursorX : -1;
    const cells = Array.from({ length: columns }, (_, column) => line?.getCell(column));
    return runsOf(cells, cursor);
  });
}

function runsOf(cells: readonly (IBufferCell | undefined)[], cursor: number): Run[] {
  const runs: Run[] = [];
  for (const [place, cell] of cells.entries()) {
    if (!cell || cell.getWidth() === 0) continue;
    const run = runOf(cell, place === cursor);
    const last = runs.at(-1);
    if (last && looksLike(last, run)) runs[runs.length - 1] = { ...last, text: last.text + run.text };
    else runs.push(run);
  }
  const last = runs.at(-1);
  if (last && !last.ground && !last.underline) runs[runs.length - 1] = { ...last, text: last.text.trimEnd() };
  return runs;
}

function runOf(cell: IBufferCell, isCursor: boolean): Run {
  const ink = colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor());
  const ground = colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor());
  const swapped = (cell.isInverse() !== 0) !== isCursor;
  return {
    text: FALLBACKS[cell.getChars()] ?? (cell.getChars() || " "),
    ink: swapped ? ground || "#000000" : ink,
    ground: swapped ? ink || "#d6d6d6" : ground,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    underline: cell.isUnderline() !== 0,
  };
}

function colour(isUsual: boolean, isDirect: boolean, number: number): string {
  if (isUsual) return "";
  return isDirect ? `#${number.toString(16).padStart(6, "0")}` : paletteColour(number);
}

function looksLike(one: Run, other: Run): boolean {
  return (
    one.ink === other.ink &&
    one.ground === other.ground &&
    one.bold === other.bold &&
    one.dim === other.dim &&
    one.underline === other.underline
  );
}

function grey(level: number): string {
  return `#${hex(level)}${hex(level)}${hex(level)}`;
}

function hex(level: number): string {
  return level.toString(16).padStart(2, "0");
}
