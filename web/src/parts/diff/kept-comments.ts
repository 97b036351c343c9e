/** Comments that were not sent yet, and the one that is being written, are kept on the phone for each worker. */

import { useState } from "preact/hooks";
import type { LineComment } from "./comments";
import type { OpenComment } from "./positions";

type Keeps<T> = [T, (next: T) => void];

export function useComments(worker: string): Keeps<readonly LineComment[]> {
  return useKept<readonly LineComment[]>(`comments:${worker}`, [], Array.isArray);
}

/** Of one diff: the folder's, or a turn's. */
export function useOpenComment(worker: string, turn: string): Keeps<OpenComment | null> {
  return useKept<OpenComment | null>(`comment:${worker}:${turn}`, null, (found) => isOpenComment(found));
}

function useKept<T>(name: string, nothing: T, isOne: (found: unknown) => boolean): Keeps<T> {
  const [value, setValue] = useState<T>(() => {
    const found = stored(name);
    return isOne(found) ? (found as T) : nothing;
  });
  const keep = (next: T) => {
    setValue(() => next);
    try {
      if (next === null || (Array.isArray(next) && next.length === 0)) localStorage.removeItem(name);
      else localStorage.setItem(name, JSON.stringify(next));
    } catch {
      // A full or forbidden store costs the keeping, not the comments on the screen.
    }
  };
  return [value, keep];
}

function stored(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

function isOpenComment(found: unknown): found is OpenComment {
  return typeof found === "object" && found !== null && "path" in found && "from" in found && "to" in found;
}
