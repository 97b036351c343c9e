/** The connection comes back by itself: at once, then ever more slowly, and whenever the phone wakes up. */

import { expect, test } from "vitest";
import type { Dial } from "../src/wire/dial";
import { NodeFailure } from "../src/wire/http";
import { Link, pauseBefore } from "../src/wire/link";
import type { ServerFrame } from "../src/wire/types";
import { Clock, settled } from "./clock";

const HELLO: ServerFrame = { hello: 1, journal: "j", first: 1, seq: 1, resume: "whole", build: "1" };

/** A node that a test switches: `down` refuses, `up` says hello and then stays silent, `stranger` does not know the device. */
function scripted(node: { is: "down" | "up" | "stranger" }, dials: number[], clock: Clock): Dial {
  return async function* dial(_, signal) {
    dials.push(clock.time);
    if (node.is !== "up") {
      throw new NodeFailure(node.is === "down" ? "unreachable" : "stranger", node.is);
    }
    yield HELLO;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  };
}

function opened(node: { is: "down" | "up" | "stranger" }) {
  const clock = new Clock();
  const dials: number[] = [];
  const told: string[] = [];
  const link = new Link(
    scripted(node, dials, clock),
    {
      opening: () => ({}),
      frame: async () => undefined,
      opened: () => told.push("opened"),
      lost: (failure, pause) => told.push(`${failure.kind} ${pause}`),
    },
    clock,
  );
  return { clock, dials, told, link, running: link.run() };
}

test("the pauses: none, none, then 1 s doubling to 30 s", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 20].map(pauseBefore)).toEqual([0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("an unreachable node is dialled at once, then ever more slowly; a wake dials at once", async () => {
  const node: { is: "down" | "up" | "stranger" } = { is: "down" };
  const { clock, dials, link, told } = opened(node);
  await settled();
  await clock.advance(0);
  await clock.advance(1000);
  await clock.advance(2000);
  expect(dials).toEqual([0, 0, 1000, 3000]);
  node.is = "up";
  await clock.advance(500);
  link.wake();
  // The same wake says so several times.
  link.wake();
  await settled();
  expect(dials).toEqual([0, 0, 1000, 3000, 3500]);
  expect(told.at(-1)).toBe("opened");
  link.stop();
});

test("a wake dials anew although the old connection says that it is fine", async () => {
  const { clock, dials, link, told } = opened({ is: "up" });
  await settled();
  await clock.advance(10_000);
  link.wake();
  await settled();
  await clock.advance(0);
  expect(dials).toEqual([0, 10_000]);
  expect(told).toEqual(["opened", "unreachable 0", "opened"]);
  link.stop();
});

test("a silent node is dialled anew", async () => {
  const { clock, dials, link } = opened({ is: "up" });
  await settled();
  await clock.advance(45_000);
  await clock.advance(0);
  expect(dials).toEqual([0, 45_000]);
  link.stop();
});

test("a node that does not know the device is not asked again", async () => {
  const { dials, told, running } = opened({ is: "stranger" });
  await running;
  expect(dials).toEqual([0]);
  expect(told).toEqual(["stranger null"]);
});
