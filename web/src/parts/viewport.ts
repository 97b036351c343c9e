/** Keeps the app as high as what the keyboard leaves free, and at the top of it. */

import { useEffect } from "preact/hooks";

export function useVisibleHeight(): void {
  useEffect(() => {
    const view = window.visualViewport;
    if (!view) return undefined;
    const follow = () => {
      document.documentElement.style.setProperty("--height", `${view.height}px`);
      // An iPhone scrolls the page under its keyboard; the app has scrolled what is needed itself.
      if (view.scale === 1) window.scrollTo(0, 0);
    };
    follow();
    view.addEventListener("resize", follow);
    view.addEventListener("scroll", follow);
    return () => {
      view.removeEventListener("resize", follow);
      view.removeEventListener("scroll", follow);
    };
  }, []);
}

/** Whether the screen is as wide as that, now and after it was turned or resized. */
export function watchWidth(pixels: number, tell: (wide: boolean) => void): () => void {
  const query = matchMedia(`(min-width: ${pixels}px)`);
  const changed = () => tell(query.matches);
  changed();
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
