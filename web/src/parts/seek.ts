/** The place of a conversation that somebody came for, from a search; its screen scrolls there once. */

import { signal } from "@preact/signals";

export interface Sought {
  readonly worker: string;
  readonly seq: number;
}

export const sought = signal<Sought | null>(null);

interface Placed {
  readonly key: string;
  readonly kind: string;
  readonly seq?: number;
}

/** The row that is sought, or the last one before it; empty while it is not loaded. */
export function rowOf(rows: readonly Placed[], wanted: Sought | null, worker: string): string {
  if (wanted?.worker !== worker) return "";
  const numbered = rows.filter((row) => row.seq !== undefined);
  if ((numbered[0]?.seq ?? Number.POSITIVE_INFINITY) > wanted.seq) return "";
  return numbered.findLast((row) => (row.seq ?? 0) <= wanted.seq)?.key ?? "";
}
