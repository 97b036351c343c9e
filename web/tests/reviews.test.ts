/** Reviews as the screens show them: verdicts together, findings with the keys that they are sent back by. */

import { expect, test } from "vitest";
import { judgesOf } from "../src/screens/review-sheet";
import { HIRE_CHOICES } from "../src/state/fixture-data";
import { reviewOf } from "../src/state/live/reviews";
import type { Worker } from "../src/state/types";
import type { Judgement, ReviewState } from "../src/wire/types";

function review(...judgements: readonly (Judgement | null)[]): ReviewState {
  return {
    id: "1-1",
    number: 1,
    reviewers: judgements.map((judgement, place) => ({
      worker: `w${place}`,
      backend: "demo",
      ...(judgement
        ? { verdict: { judgement, findings: [{ severity: "P1", title: "It breaks.", path: "a.py", line: 3 }] } }
        : {}),
    })),
    sent: ["1.0"],
    phase: "over",
  };
}

test("reviewers approve together only when each of them does", () => {
  expect(reviewOf(review("approve", "approve")).judgement).toBe("approve");
  expect(reviewOf(review("approve", "changes", "unsure")).judgement).toBe("changes");
  expect(reviewOf(review("approve", null)).judgement).toBe("unsure");
  expect(reviewOf(review()).judgement).toBe("unsure");
  expect(reviewOf({ ...review("approve"), problem: "It was cancelled." }).judgement).toBe("unsure");
});

test("findings have their keys, their places, and whether they were sent back", () => {
  const shown = reviewOf(review("changes", "changes"));
  const found = shown.reviewers.map((one) => one.verdict?.findings[0]);
  expect(found.map((one) => [one?.key, one?.place, one?.sent])).toEqual([
    ["0.0", "a.py:3", false],
    ["1.0", "a.py:3", true],
  ]);
  expect([shown.over, shown.stale, shown.scope, shown.round]).toEqual([true, false, "tree", 1]);
});

test("only who can judge is offered, and another agent than the worker's own is ticked", () => {
  const worker = (name: string, backend: string, judges = "") => ({ name, backend, judges }) as unknown as Worker;
  const ann = worker("ann", "claude");
  const team = [ann, worker("cody", "codex"), worker("desk", "bridge"), worker("judge", "codex", "ann")];
  const claude = HIRE_CHOICES.backends.filter((one) => one.backend === "claude");
  const bridge = claude.map((one) => ({ ...one, backend: "bridge", judges: false }));
  const alone = judgesOf(ann, [...claude, ...bridge], team);
  expect([alone.backends, alone.workers.map((one) => one.name), alone.usual]).toEqual([["claude"], ["cody"], []]);
  const several = judgesOf(ann, [...HIRE_CHOICES.backends, ...bridge], team);
  expect([several.backends.includes("opencode"), several.usual]).toEqual([false, ["codex"]]);
});
