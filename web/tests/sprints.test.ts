/** A sprint as it is shown: what is done, what is at work, what waits; and lists of tasks as the node reads them. */

import { expect, test } from "vitest";
import { sprintWords } from "../src/parts/sprint";
import { sprintOf, tasksOf } from "../src/state/sprints";
import type { SprintState } from "../src/wire/types";

const SPRINT: SprintState = {
  id: "s1",
  began: 1000,
  tasks: ["one", "two", "three", "four"],
  at: 2,
  round: 2,
  failures: 2,
  trouble: "2 failed",
  outcomes: [
    { task: "one", done: true, rounds: 2, commit: "0123456789abcdef" },
    { task: "two", done: false, why: "skipped" },
  ],
  before: { cost_dollars: 1 },
};

test("every task stands where it is, with its rounds and its commit", () => {
  const shown = sprintOf(SPRINT, { cost_dollars: 1.8 });
  expect(shown.tasks.map((task) => [task.text, task.state, task.rounds])).toEqual([
    ["one", "done", 2],
    ["two", "failed", 1],
    ["three", "now", 2],
    ["four", "todo", 0],
  ]);
  expect(shown.tasks[0]?.commit).toBe("01234567");
  expect(shown.tasks[2]?.why).toBe("2 failed");
  expect(sprintWords(shown, 1000 + 14 * 60)).toBe("1/4 · checks ✗ 2 · 14:00 · $0.80");
});

test("without tasks it follows the agent's plan, and names no number of them", () => {
  const shown = sprintOf({ id: "s2", began: 0, outcomes: [{ task: "first", done: true }], at: 1 }, {});
  expect(shown.ownPlan).toBe(true);
  expect(shown.tasks.map((task) => task.state)).toEqual(["done", "now"]);
  expect(sprintWords(shown, 60)).toBe("1 · 1:00");
});

test("a limit of tasks cuts the list, and a sprint that did not change is the same object", () => {
  const sprint: SprintState = { id: "s3", began: 0, tasks: ["a", "b", "c"], limits: { tasks: 2 } };
  expect(sprintOf(sprint, {}).tasks.map((task) => task.text)).toEqual(["a", "b"]);
  expect(sprintOf(sprint, {})).toBe(sprintOf(sprint, {}));
  expect(sprintOf(sprint, { cost_dollars: 1 })).not.toBe(sprintOf(sprint, { cost_dollars: 2 }));
});

test.each([
  ["- write the parser\n- [ ] test it\n- [x] done", ["write the parser", "test it"]],
  ["Please:\n1. one\n2) two", ["one", "two"]],
  ["one\n\n  two  ", ["one", "two"]],
  ["", []],
])("%j is a list of tasks", (text, tasks) => {
  expect(tasksOf(text)).toEqual(tasks);
});
