/** Reviews that the fixture shows: one that is stale, and one with a verdict, a reviewer at work and one that failed. */

import type { Review, ReviewFinding } from "./types";

const FINDINGS: readonly ReviewFinding[] = [
  {
    key: "0.0",
    severity: "P1",
    title: "Two carts of one session can be merged twice.",
    place: "cart/session.py:44",
    detail: "load() lets go of the lock before the merge is stored. Take it around both, or make the merge idempotent.",
    sent: false,
  },
  {
    key: "0.1",
    severity: "P2",
    title: "The test passes without the fix, too.",
    place: "tests/checkout/test_cart.py:18",
    detail: "",
    sent: false,
  },
  {
    key: "0.2",
    severity: "P3",
    title: "`cart or Cart.empty()` hides an empty cart.",
    place: "cart/session.py:47",
    detail: "",
    sent: true,
  },
];

export function fixtureReviews(at: number): readonly Review[] {
  const [first, second] = FINDINGS;
  return [
    {
      ...review("7-1", 1, at - 900),
      stale: true,
      judgement: "changes",
      reviewers: [
        {
          worker: "gemini-judges-otto",
          backend: "gemini",
          phase: "done",
          problem: "",
          verdict: {
            judgement: "changes",
            summary: "The lock is released too early.",
            confidence: 0.7,
            findings: first && second ? [first, second] : [],
            text: "",
          },
        },
      ],
    },
    {
      ...review("7-2", 2, at - 74),
      round: 2,
      over: false,
      judgement: "changes",
      reviewers: [
        {
          worker: "claude-judges-otto",
          backend: "claude",
          phase: "done",
          problem: "",
          verdict: {
            judgement: "changes",
            summary: "The race is gone, but a second one is left, and the new test cannot fail.",
            confidence: 0.86,
            findings: FINDINGS,
            text: "",
          },
        },
        { worker: "gemini-judges-otto", backend: "gemini", phase: "working", problem: "", verdict: null },
        {
          worker: "opencode-judges-otto",
          backend: "opencode",
          phase: "failed",
          problem: "The agent ended.",
          verdict: null,
        },
      ],
    },
  ];
}

/** A verdict that opens the gate. */
export function approvedReview(at: number): Review {
  return {
    ...review("9-1", 1, at - 60),
    judgement: "approve",
    reviewers: [
      {
        worker: "claude-judges-cora",
        backend: "claude",
        phase: "done",
        problem: "",
        verdict: {
          judgement: "approve",
          summary: "The lock is taken before the read; the test fails without it.",
          confidence: 0.9,
          findings: [],
          text: "",
        },
      },
    ],
  };
}

function review(id: string, number: number, at: number): Review {
  return {
    id,
    number,
    scope: "tree",
    at,
    over: true,
    files: 3,
    added: 41,
    removed: 12,
    problem: "",
    round: 1,
    stale: false,
    judgement: "unsure",
    reviewers: [],
  };
}
