/** Which rows of a long conversation are on the screen: at most 300, trimmed on the side away from the reader. Pure. */

export const MOST_ROWS = 300;
// Enough for the first look; more are made while nobody waits for them.
export const FIRST_ROWS = 16;
// So few that they are made within the frame in which they are needed.
export const STEP = 5;
const AROUND = 40;
// As many rows may come in before somebody who reads further up keeps the rows as they are.
const SPARE_ROWS = 40;

/** The first and the last row that are shown, by their keys; none means the beginning of a fresh look, or the newest. */
export interface RowWindow {
  readonly start: string | null;
  readonly end: string | null;
}

export const NEWEST: RowWindow = { start: null, end: null };

interface Keyed {
  readonly key: string;
}

/** The places of the window in these rows: from, and up to but without. */
export function placesOf(rows: readonly Keyed[], window: RowWindow): { from: number; to: number } {
  const last = window.end === null ? -1 : placeOf(rows, window.end);
  const to = last < 0 ? rows.length : last + 1;
  const first = window.start === null ? -1 : placeOf(rows, window.start);
  const from = first < 0 || first >= to ? Math.max(0, to - FIRST_ROWS) : first;
  return { from: Math.max(from, to - MOST_ROWS), to };
}

/** The window with older rows; the newest go where there are too many. */
export function older(rows: readonly Keyed[], window: RowWindow): RowWindow {
  const { from, to } = placesOf(rows, window);
  const start = Math.max(0, from - STEP);
  return made(rows, start, Math.min(to, start + MOST_ROWS));
}

/** The window with newer rows; the oldest go where there are too many. */
export function newer(rows: readonly Keyed[], window: RowWindow): RowWindow {
  const { from, to } = placesOf(rows, window);
  const end = Math.min(rows.length, to + STEP);
  return made(rows, Math.max(from, end - MOST_ROWS), end);
}

/** The window with a row in its middle. */
export function around(rows: readonly Keyed[], key: string): RowWindow {
  const place = placeOf(rows, key);
  if (place < 0) return NEWEST;
  return made(rows, Math.max(0, place - AROUND), Math.min(rows.length, place + AROUND));
}

/** While somebody reads at the end, rows that come in stay, and their number is bounded at the beginning. */
export function held(rows: readonly Keyed[], window: RowWindow): RowWindow {
  const { from } = placesOf(rows, window);
  return { start: rows[from]?.key ?? null, end: window.end };
}

/** Whether the next rows that come in at the end would push rows out at the beginning. */
export function isNearlyFull(rows: readonly Keyed[], window: RowWindow): boolean {
  const { from, to } = placesOf(rows, window);
  return window.end === null && to - from > MOST_ROWS - SPARE_ROWS;
}

/** The same rows, whatever comes in. */
export function pinned(rows: readonly Keyed[], window: RowWindow): RowWindow {
  const { from, to } = placesOf(rows, window);
  return { start: rows[from]?.key ?? null, end: rows[to - 1]?.key ?? null };
}

function made(rows: readonly Keyed[], from: number, to: number): RowWindow {
  return { start: rows[from]?.key ?? null, end: to >= rows.length ? null : (rows[to - 1]?.key ?? null) };
}

function placeOf(rows: readonly Keyed[], key: string): number {
  for (let place = rows.length - 1; place >= 0; place -= 1) if (rows[place]?.key === key) return place;
  return -1;
}
