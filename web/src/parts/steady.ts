/** A tap that was meant for what stood there a moment ago must not answer what has just come in its place: not a
 * question, and not the whole window, which another site may have laid below its own until the second click of two. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

export const SETTLE_MILLISECONDS = 350;
/** Longer than two clicks of a double click are apart. */
export const COME_MILLISECONDS = 700;

/** When what is shown may be tapped. */
export class Steadiness {
  private from = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Something else stands there now. */
  moved(): void {
    this.from = Math.max(this.from, this.now() + SETTLE_MILLISECONDS);
  }

  /** The window has come to the front. */
  came(): void {
    this.from = Math.max(this.from, this.now() + COME_MILLISECONDS);
  }

  holds(): boolean {
    return this.now() >= this.from;
  }
}

/** Whether what is shown under this name, and the window itself, has stood at its place long enough to be tapped. */
export function useSteady(...place: readonly unknown[]): () => boolean {
  const steadiness = useRef<Steadiness | null>(null);
  steadiness.current ??= new Steadiness();
  const one = steadiness.current;
  useLayoutEffect(() => one.moved(), place);
  useEffect(() => {
    const come = () => one.came();
    addEventListener("focus", come);
    document.addEventListener("visibilitychange", come);
    return () => {
      removeEventListener("focus", come);
      document.removeEventListener("visibilitychange", come);
    };
  }, []);
  return () => one.holds();
}
