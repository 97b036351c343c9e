/** Where in a file's changes one points, so that it is found again when the changes are read anew. Pure. */

import type { DiffLine } from "./parse";

export interface Spot {
  /** A removed line is counted in the old file. */
  readonly side: "old" | "new";
  readonly number: number;
  readonly text: string;
}

/** A comment that is being written: on which lines, and what there is of it. */
export interface OpenComment {
  readonly path: string;
  readonly from: Spot;
  readonly to: Spot;
  readonly text: string;
}

export function spotOf(line: DiffLine): Spot {
  const side = line.kind === "removed" ? "old" : "new";
  return { side, number: (side === "old" ? line.before : line.after) ?? 0, text: line.text };
}

export function isSameSpot(one: Spot, other: Spot): boolean {
  return one.side === other.side && one.number === other.number;
}

/** The line that was meant: the nearest that says the same, or else the nearest; none only where there are no lines. */
export function lineAt(lines: readonly DiffLine[], spot: Spot): DiffLine | undefined {
  const near = lines.filter((line) => spotOf(line).side === spot.side);
  const same = near.filter((line) => line.text === spot.text);
  const far = (line: DiffLine) => Math.abs(spotOf(line).number - spot.number);
  const candidates = same.length ? same : near.length ? near : lines;
  return candidates.reduce<DiffLine | undefined>(
    (best, line) => (best === undefined || far(line) < far(best) ? line : best),
    undefined,
  );
}
