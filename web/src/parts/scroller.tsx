/** The conversation's scroller: it stands at the newest row, and what somebody reads never moves under their eyes. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../texts";
import { Icon } from "./icon";
import { around, held, isNearlyFull, NEWEST, newer, older, pinned, placesOf, type RowWindow } from "./row-window";

interface Keyed {
  readonly key: string;
}

interface ScrollerProps<T extends Keyed> {
  readonly rows: readonly T[];
  readonly row: (row: T, before: T | undefined) => ComponentChildren;
  readonly more: boolean;
  readonly loading: boolean;
  readonly onOlder: () => void;
  readonly label: string;
  /** Whether rows came that the person has not seen. */
  readonly fresh: boolean;
  /** The row to scroll to, by its key; empty for none. */
  readonly seek: string;
  readonly onFound: () => void;
}

// Nearer to the end than this counts as reading the newest.
const AT_END_PIXELS = 40;
const AHEAD_PIXELS = 1500;
const LATER_MILLISECONDS = 150;

/** Where the eye rests: an element, and how far below the scroller's top it stands. */
interface Anchor {
  readonly element: Element;
  readonly top: number;
  /** Where the scroller stood then. */
  readonly scrolled: number;
}

export function Scroller<T extends Keyed>({
  rows,
  row,
  more,
  loading,
  onOlder,
  label,
  fresh,
  seek,
  onFound,
}: ScrollerProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const anchor = useRef<Anchor | null>(null);
  const [window, setWindow] = useState<RowWindow>(NEWEST);
  const [atEnd, setAtEnd] = useState(true);
  const { from, to } = placesOf(rows, window);
  const latest = useRef({ rows, window, from, to, more, loading, onOlder });
  latest.current = { rows, window, from, to, more, loading, onOlder };

  useKeptPlace(scroller, content, anchor);

  // Somebody who reads at the end keeps what is above, however much comes in.
  useEffect(() => {
    if (window.start === null && rows.length) setWindow(held(rows, window));
    // Somebody who reads further up keeps it, too: what comes in stays outside until they come back to it.
    else if (!atEnd && isNearlyFull(rows, window)) setWindow(pinned(rows, window));
  }, [rows, window, atEnd]);

  // The first look is short; the rows above it are made when it has been painted, a few at a time.
  useEffect(() => {
    const timer = setTimeout(() => {
      const now = latest.current;
      if (now.from > 0 && scroller.current && aboveOf(scroller.current) < AHEAD_PIXELS)
        setWindow(older(now.rows, now.window));
    }, LATER_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [window]);

  useLayoutEffect(() => {
    if (seek) setWindow(around(latest.current.rows, seek));
  }, [seek]);
  useEffect(() => {
    const found = seek ? content.current?.querySelector(`[data-key="${CSS.escape(seek)}"]`) : null;
    if (!found || !scroller.current) return;
    found.scrollIntoView({ block: "start" });
    found.classList.add("found");
    anchor.current = placed(scroller.current, found);
    onFound();
  }, [seek, window]);

  const onScroll = () => {
    const box = scroller.current;
    if (!box || !content.current) return;
    // What grew since the last picture is told after this: it must not pass for a part of the scroll.
    if (anchor.current?.element.isConnected) {
      const grown = topOf(box, anchor.current.element) - anchor.current.top + box.scrollTop - anchor.current.scrolled;
      if (Math.abs(grown) >= 1) box.scrollTop += grown;
    }
    const fromEnd = -box.scrollTop;
    const fromStart = aboveOf(box);
    const now = latest.current;
    const newest = now.to >= now.rows.length;
    setAtEnd(newest && fromEnd < AT_END_PIXELS);
    anchor.current = newest && fromEnd < 2 ? null : firstSeen(box, content.current);
    if (fromStart < AHEAD_PIXELS && now.from > 0) setWindow(older(now.rows, now.window));
    else if (fromStart < AHEAD_PIXELS && now.more && !now.loading) now.onOlder();
    else if (fromEnd < AHEAD_PIXELS && !newest) setWindow(newer(now.rows, now.window));
  };

  const jump = () => {
    anchor.current = null;
    setWindow(NEWEST);
    setAtEnd(true);
    requestAnimationFrame(() => scroller.current?.scrollTo({ top: 0 }));
  };

  // Opening a fold keeps the tapped line where it is; what it holds comes below it.
  const onToggle = (event: Event) => {
    const line = (event.target as Element).closest("summary");
    if (line && scroller.current) anchor.current = placed(scroller.current, line);
  };

  return (
    <div class="scroller-box">
      <div
        class="scroller"
        ref={scroller}
        onScroll={onScroll}
        onClickCapture={onToggle}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label={label}
      >
        <div class="rows" ref={content}>
          {from > 0 || more ? (
            <div class="older small dim">
              {loading ? (
                t("loadingOlder")
              ) : (
                <button
                  type="button"
                  class="text-button"
                  onClick={() => (from > 0 ? setWindow(older(rows, window)) : onOlder())}
                >
                  {t("older")}
                </button>
              )}
            </div>
          ) : null}
          {rows.slice(from, to).map((one, index) => row(one, rows[from + index - 1]))}
        </div>
      </div>
      {atEnd ? null : (
        <button type="button" class="jump" onClick={jump} aria-label={fresh ? t("jumpToNew") : t("jumpToNewest")}>
          <Icon name="jump" />
          {fresh ? <span class="small">{t("newHere")}</span> : null}
        </button>
      )}
    </div>
  );
}

type Box = { readonly current: HTMLDivElement | null };

/** Moves the scroller by as much as what is read was moved, after every change of a row's height and before it is painted. */
function useKeptPlace(scroller: Box, content: Box, anchor: { current: Anchor | null }): void {
  const keep = () => {
    const box = scroller.current;
    const kept = anchor.current;
    if (!box || !kept?.element.isConnected) return;
    const moved = topOf(box, kept.element) - kept.top;
    if (Math.abs(moved) >= 1) box.scrollTop += moved;
    anchor.current = { ...kept, scrolled: box.scrollTop };
  };
  // After rows were added or taken away.
  useLayoutEffect(keep);
  // After a row grew: streaming, a picture, a fold.
  useEffect(() => {
    if (!content.current || typeof ResizeObserver === "undefined") return undefined;
    const observer = new ResizeObserver(keep);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
}

/** How many pixels are above what is seen; the scroller counts from its end. */
function aboveOf(box: Element): number {
  return box.scrollHeight - box.clientHeight + box.scrollTop;
}

function topOf(box: Element, element: Element): number {
  return element.getBoundingClientRect().top - box.getBoundingClientRect().top;
}

function placed(box: Element, element: Element): Anchor {
  return { element, top: topOf(box, element), scrolled: box.scrollTop };
}

/** The first row that is seen, by bisection: rows stand in order. */
function firstSeen(box: Element, content: Element): Anchor | null {
  const children = content.children;
  let low = 0;
  let high = children.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const child = children[middle];
    if (child && child.getBoundingClientRect().bottom > box.getBoundingClientRect().top + 1) high = middle;
    else low = middle + 1;
  }
  const found = children[low];
  return found ? placed(box, deepest(box, found)) : null;
}

/** Inside a long row, the first of its blocks that is seen: the row itself may begin far above. */
function deepest(box: Element, row: Element): Element {
  const top = box.getBoundingClientRect().top;
  for (const block of row.querySelectorAll(":scope > *, :scope .md > *")) {
    const place = block.getBoundingClientRect();
    if (place.top >= top && place.height > 0) return block;
  }
  return row;
}
