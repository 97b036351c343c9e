/** No tap answers what came below the finger: a question that has just moved, a window that has just come to the front. */

import { expect, test } from "vitest";
import { COME_MILLISECONDS, SETTLE_MILLISECONDS, Steadiness } from "../src/parts/steady";

/** The system's own span between two clicks, as desktops have it. */
const DOUBLE_CLICK = 500;

test("the second click of two on another window answers nothing", () => {
  let time = 0;
  const steady = new Steadiness(() => time);
  steady.moved();
  time += 60_000;
  expect(steady.holds()).toBe(true);
  // The window that lay above is closed by the first click.
  steady.came();
  time += DOUBLE_CLICK;
  expect(steady.holds()).toBe(false);
  // A question that moves meanwhile makes it no sooner.
  steady.moved();
  time += COME_MILLISECONDS - DOUBLE_CLICK - 1;
  expect(steady.holds()).toBe(false);
  time += SETTLE_MILLISECONDS;
  expect(steady.holds()).toBe(true);
});
