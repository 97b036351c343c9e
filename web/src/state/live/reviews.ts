/** Reviews as the screens show them, from the words of the node. Pure. */

import type * as wire from "../../wire/types";
import type { Review, ReviewVerdict } from "../types";

export function reviewOf(review: wire.ReviewState): Review {
  const reviewers = review.reviewers.map((one, place) => ({
    worker: one.worker,
    backend: one.backend,
    phase: one.phase ?? "working",
    problem: one.problem ?? "",
    verdict: one.verdict ? verdictOf(one.verdict, place, review.sent ?? []) : null,
  }));
  return {
    id: review.id,
    number: review.number,
    scope: review.scope ?? "tree",
    at: review.at ?? 0,
    over: review.phase === "over",
    files: review.files ?? 0,
    added: review.added ?? 0,
    removed: review.removed ?? 0,
    problem: review.problem ?? "",
    round: review.round ?? 1,
    stale: review.stale ?? false,
    judgement: together(review),
    reviewers,
  };
}

/** What all reviewers say together: the work passes when every one of them lets it. */
function together(review: wire.ReviewState): wire.Judgement {
  const said = review.reviewers.map((one) => one.verdict?.judgement ?? "unsure");
  if (review.problem || said.length === 0) return "unsure";
  return said.includes("changes") ? "changes" : said.includes("unsure") ? "unsure" : "approve";
}

function verdictOf(verdict: wire.Verdict, place: number, sent: readonly string[]): ReviewVerdict {
  return {
    judgement: verdict.judgement,
    summary: verdict.summary ?? "",
    confidence: verdict.confidence ?? null,
    text: verdict.text ?? "",
    findings: (verdict.findings ?? []).map((one, number) => ({
      key: `${place}.${number}`,
      severity: one.severity,
      title: one.title,
      place: one.path && one.line ? `${one.path}:${one.line}` : (one.path ?? ""),
      detail: one.detail ?? "",
      sent: sent.includes(`${place}.${number}`),
    })),
  };
}
