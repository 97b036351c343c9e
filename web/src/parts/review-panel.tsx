/** Reviews of a worker's work above the composer: a tab each, minimised to one line while they work. */

import { useEffect, useState } from "preact/hooks";
import { useApp } from "../state/context";
import type { Judgement, Review, Reviewer, ReviewFinding, Worker } from "../state/types";
import { type TextKey, t } from "../texts";
import { brandOf, tint } from "./backend";
import { Icon } from "./icon";
import { PlainInput } from "./input";
import { Problem } from "./notice";
import { address } from "./route";
import { running } from "./times";
import { Shown, ShownWithCode } from "./visible";

const SAYS: Readonly<Record<Judgement, TextKey>> = {
  approve: "verdictApprove",
  changes: "verdictChanges",
  unsure: "verdictUnsure",
};
const SIGNS = { approve: "check", changes: "cross", unsure: "warn" } as const;
const COLOURS: Readonly<Record<Judgement, string>> = { approve: "ok", changes: "bad", unsure: "accent" };

interface Tab {
  readonly key: string;
  readonly review: Review;
  readonly reviewer: Reviewer;
}

export function ReviewPanel({ worker }: { worker: Worker }) {
  const { actions } = useApp();
  const [open, setOpen] = useState(false);
  const [picked, setPicked] = useState("");
  const tabs = tabsOf(worker.reviews);
  const newest = worker.reviews.at(-1);
  const over = newest?.over ?? false;
  // What is shown must be what is: the node looks at the folder when a verdict comes up.
  useEffect(() => {
    if (open && over) void actions.refreshReviews(worker.name);
  }, [open, over, worker.name, actions]);
  if (!newest || tabs.length === 0) return null;
  const tab = tabs.find((one) => one.key === picked) ?? tabs.find((one) => one.review === newest) ?? tabs[0];
  return (
    <section class={open ? "reviews open" : "reviews"} aria-label={t("reviews")}>
      <div class="review-tabs">
        <div class="review-strip" role="tablist" aria-label={t("reviews")}>
          {tabs.map((one) => (
            <TabButton
              key={one.key}
              tab={one}
              selected={open && one === tab}
              onPick={() => {
                setOpen(!(open && one === tab));
                setPicked(one.key);
              }}
            />
          ))}
        </div>
        <button
          type="button"
          class="icon-button"
          aria-expanded={open}
          aria-label={open ? t("minimise") : t("reviews")}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? "down" : "up"} />
        </button>
      </div>
      {open && tab ? <Panel key={tab.key} tab={tab} worker={worker} isNewest={tab.review === newest} /> : null}
    </section>
  );
}

/** The newest first, a tab for each reviewer. */
function tabsOf(reviews: readonly Review[]): readonly Tab[] {
  return [...reviews]
    .reverse()
    .flatMap((review) =>
      review.reviewers.map((reviewer) => ({ key: `${review.id} ${reviewer.worker}`, review, reviewer })),
    );
}

function TabButton({ tab, selected, onPick }: { tab: Tab; selected: boolean; onPick: () => void }) {
  const { clock } = useApp();
  const { review, reviewer } = tab;
  const verdict = reviewer.verdict;
  const words = verdict ? t(SAYS[verdict.judgement]) : reviewer.phase === "failed" ? t("verdictNone") : t("reviewing");
  const isStale = review.over && review.stale;
  return (
    <button
      type="button"
      role="tab"
      aria-selected={selected}
      class={`review-tab ${tint(reviewer.backend)} ${isStale ? "stale" : ""}`}
      onClick={onPick}
    >
      <span class="review-tab-name">
        {brandOf(reviewer.backend).name}
        {review.round > 1 ? <span class="dim"> {review.round}</span> : null}
      </span>
      {verdict ? (
        <span class={`tiny ${isStale ? "dim" : COLOURS[verdict.judgement]}`}>
          <Icon name={SIGNS[verdict.judgement]} size={12} />
          {verdict.findings.length ? `${words} · ${verdict.findings.length}` : words}
        </span>
      ) : reviewer.phase === "failed" || review.over ? (
        <span class="tiny dim">{words}</span>
      ) : (
        <span class="tiny accent">
          <span class="working-sign" aria-hidden="true" /> {words} {running(clock.value - review.at)}
        </span>
      )}
    </button>
  );
}

function Panel({ tab, worker, isNewest }: { tab: Tab; worker: Worker; isNewest: boolean }) {
  const { review, reviewer } = tab;
  const isStale = review.over && review.stale;
  const names = brandOf(reviewer.backend).name;
  return (
    <div class={isStale ? "review-panel stale" : "review-panel"} role="tabpanel">
      <p class="small dim">
        #{review.number} · {t("reviewRound", { n: review.round })}
        {review.files
          ? ` · ${t("judgedAs", { names, files: review.files, added: review.added, removed: review.removed })}`
          : ""}
      </p>
      {isStale ? (
        <p class="small stale-note">
          <Icon name="warn" size={12} /> {t("stale")}
        </p>
      ) : null}
      {reviewer.verdict ? (
        <VerdictCard tab={tab} worker={worker} />
      ) : (
        <Waiting tab={tab} worker={worker} isNewest={isNewest} />
      )}
      {isNewest && review.over ? <Gate review={review} worker={worker} /> : null}
    </div>
  );
}

function Waiting({ tab, worker, isNewest }: { tab: Tab; worker: Worker; isNewest: boolean }) {
  const { actions, device } = useApp();
  const { review, reviewer } = tab;
  if (review.over || reviewer.phase === "failed") {
    return (
      <>
        <p class="bad small">
          {t("verdictNone")}: <Shown text={reviewer.problem || review.problem} />
        </p>
        {isNewest && review.over ? <AgainButton review={review} worker={worker} /> : null}
      </>
    );
  }
  return (
    <div class="buttons">
      <a class="button" href={address({ worker: reviewer.worker })}>
        {t("openReviewer")}
      </a>
      {device.value?.readOnly ? null : (
        <button type="button" class="button danger" onClick={() => void actions.cancelReview(worker.name, review.id)}>
          {t("stopReview")}
        </button>
      )}
    </div>
  );
}

function VerdictCard({ tab, worker }: { tab: Tab; worker: Worker }) {
  const { actions, device } = useApp();
  const { review, reviewer } = tab;
  const verdict = reviewer.verdict;
  const findings = verdict?.findings ?? [];
  const [ticked, setTicked] = useState<ReadonlySet<string>>(
    () => new Set(findings.filter((one) => !one.sent && one.severity < "P3").map((one) => one.key)),
  );
  const [problem, setProblem] = useState("");
  if (!verdict) return null;
  const send = async () => {
    const outcome = await actions.sendFindings(worker.name, review.id, [...ticked]);
    setProblem(outcome.ok ? "" : outcome.why);
    if (outcome.ok) setTicked(new Set());
  };
  const tick = (key: string) => {
    const next = new Set(ticked);
    if (!next.delete(key)) next.add(key);
    setTicked(next);
  };
  return (
    <>
      <p class="verdict">
        <b class={review.stale ? "dim" : COLOURS[verdict.judgement]}>{t(SAYS[verdict.judgement])}</b>
        {verdict.confidence === null ? null : (
          <span class="small dim"> · {t("sure", { n: Math.round(verdict.confidence * 100) })}</span>
        )}
      </p>
      {verdict.summary || verdict.text ? (
        <p class="small verdict-text">
          <ShownWithCode text={verdict.summary || verdict.text} />
        </p>
      ) : null}
      {findings.length ? null : <p class="small dim">{t("noFindings")}</p>}
      <ul class="findings">
        {findings.map((one) => (
          <Finding key={one.key} finding={one} ticked={ticked.has(one.key)} onTick={() => tick(one.key)} />
        ))}
      </ul>
      <Problem text={problem} />
      <div class="buttons">
        <AgainButton review={review} worker={worker} />
        {findings.length && !device.value?.readOnly ? (
          <button
            type="button"
            class={review.stale ? "button" : "button primary"}
            disabled={ticked.size === 0}
            onClick={() => void send()}
          >
            {t("sendBack", { n: ticked.size })}
          </button>
        ) : null}
      </div>
    </>
  );
}

function AgainButton({ review, worker }: { review: Review; worker: Worker }) {
  const { actions, device } = useApp();
  if (device.value?.readOnly) return null;
  return (
    <button
      type="button"
      class={review.stale ? "button primary" : "button"}
      disabled={!review.over}
      onClick={() => void actions.reviewAgain(worker.name, review.id)}
    >
      {t("reviewAgain")}
    </button>
  );
}

function Finding({ finding, ticked, onTick }: { finding: ReviewFinding; ticked: boolean; onTick: () => void }) {
  return (
    <li>
      <label class="finding">
        <input type="checkbox" checked={ticked} onChange={onTick} />
        <span class="grow">
          <span class={`severity ${finding.severity.toLowerCase()}`}>{finding.severity}</span>{" "}
          {finding.place ? (
            <code class="small">
              <Shown text={finding.place} strict />
            </code>
          ) : null}
          {finding.sent ? <span class="tiny dim"> · {t("sentBack")}</span> : null}
          <span class="finding-title">
            <ShownWithCode text={finding.title} />
          </span>
          {finding.detail ? (
            <span class="small dim finding-detail">
              <ShownWithCode text={finding.detail} />
            </span>
          ) : null}
        </span>
      </label>
    </li>
  );
}

/** A verdict that approves and holds opens the gate: what was judged may be merged from here. */
function Gate({ review, worker }: { review: Review; worker: Worker }) {
  const { actions, device } = useApp();
  const [into, setInto] = useState("main");
  const [told, setTold] = useState("");
  const isWhole = review.scope === "tree" || review.scope === "commits";
  const isOpen = isWhole && review.judgement === "approve" && !review.stale;
  const merge = async () => {
    const outcome = await actions.merge(worker.name, into.trim());
    setTold(outcome.ok ? t("merged") : outcome.why);
  };
  return (
    <div class="gate">
      <p class={isOpen ? "small ok" : "small dim"}>
        <Icon name={isOpen ? "check" : "cross"} size={12} /> {isOpen ? t("gateOpen") : t("gateClosed")}
      </p>
      {isOpen && !device.value?.readOnly ? (
        <div class="buttons">
          <PlainInput value={into} label={t("mergeInto")} onInput={setInto} />
          <button type="button" class="button" disabled={into.trim() === ""} onClick={() => void merge()}>
            {t("mergeInto")} {into}
          </button>
        </div>
      ) : null}
      {told ? (
        <p class="small" role="status">
          <Shown text={told} />
        </p>
      ) : null}
    </div>
  );
}
