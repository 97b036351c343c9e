/** A tap that was meant for what stood there a moment ago must not answer what has just come in its place. */

import { useLayoutEffect, useRef } from "preact/hooks";

const SETTLE_MILLISECONDS = 350;

/** Whether what is shown under this name has stood at its place long enough to be tapped. */
export function useSteady(...place: readonly unknown[]): () => boolean {
  const since = useRef(0);
  useLayoutEffect(() => {
    since.current = performance.now();
  }, place);
  return () => performance.now() - since.current >= SETTLE_MILLISECONDS;
}
