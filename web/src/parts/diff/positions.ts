/** Where in a file's changes one points, so that it is found again when the changes are read anew. Pure. */

import type { DiffLine } from "./parse";

export interface LinePosition {
  /** A removed line is counted in the old file. */
  readonly side: "old" | "new";
  readonly number: number;
  readonly text: string;
}

/** A comment that is being written: on which lines, and what there is of it. */
export interface OpenComment {
  readonly path: string;
  readonly from: LinePosition;
  readonly to: LinePosition;
  readonly text: string;
}

export function positionOf(line: DiffLine): LinePosition {
  const side = line.kind === "removed" ? "old" : "new";
  return { side, number: (side === "old" ? line.before : line.after) ?? 0, text: line.text };
}

export function isSamePosition(one: LinePosition, other: LinePosition): boolean {
  return one.side === other.side && one.number === other.number;
}

/** The line that was meant: the nearest that says the same, or else the nearest; none only where there are no lines. */
export function lineAt(lines: readonly DiffLine[], position: LinePosition): DiffLine | undefined {
  const near = lines.filter((line) => positionOf(line).side === position.side);
  const same = near.filter((line) => line.text === position.text);
  const far = (line: DiffLine) => Math.abs(positionOf(line).number - position.number);
  const candidates = same.length ? same : near.length ? near : lines;
  return candidates.reduce<DiffLine | undefined>(
    (best, line) => (best === undefined || far(line) < far(best) ? line : best),
    undefined,
  );
}
