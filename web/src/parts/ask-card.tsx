/** An ask in a list: what would be done, whole, and the answer in reach of a thumb. */

import { Fragment } from "preact";
import { useApp } from "../state/context";
import type { OpenAsk, Worker } from "../state/types";
import { t } from "../texts";
import { beside, onCard, onceOnly, questionOf, risksOf, sides, wants } from "./ask-words";
import { tint } from "./backend";
import { Icon } from "./icon";
import { openSheet } from "./route";
import { useSteady } from "./steady";
import { ago } from "./times";
import { Shown } from "./visible";

export function AskCard({ ask, worker, place }: { ask: OpenAsk; worker: Worker | undefined; place: number }) {
  const { clock } = useApp();
  return (
    <article class={`card ask-card ${tint(worker?.backend ?? "")}`} aria-label={`${ask.worker} ${wants(ask)}`}>
      <p class="small dim">
        <span class="name">{ask.worker}</span> {wants(ask)} · {ago(ask.raisedAt, clock.value)}
      </p>
      {ask.about === "permission" ? (
        <Permission ask={ask} />
      ) : (
        <p class="ask-question">{<Shown text={questionOf(ask)} />}</p>
      )}
      <AskButtons ask={ask} place={place} />
    </article>
  );
}

function Permission({ ask }: { ask: OpenAsk }) {
  const { lines, more } = onCard(ask);
  const risks = risksOf(ask);
  const mild = risks.every((one) => one.mild);
  return (
    <>
      {beside(ask) ? (
        <p class="ask-question">
          <Shown text={beside(ask)} strict />
        </p>
      ) : null}
      <code class="command">
        <Shown text={lines.join("\n")} strict />
        {more ? <span class="dim">{`${lines.length ? "\n" : ""}${t("moreLines", { n: more })}`}</span> : null}
      </code>
      {ask.where ? (
        <p class="small ask-where">
          <span class="dim">{t("where")}</span> <Shown text={ask.where} strict />
        </p>
      ) : null}
      {risks.length ? (
        <p class={mild ? "small dim" : "small risk"}>
          {mild ? null : <Icon name="warn" size={12} />}
          <span>
            {risks.map(({ text }, index) => (
              <Fragment key={text}>
                {/* The point stays at the end of its line. */}
                {index ? "\u00a0· " : ""}
                <Shown text={text} />
              </Fragment>
            ))}
          </span>
        </p>
      ) : null}
    </>
  );
}

function AskButtons({ ask, place }: { ask: OpenAsk; place: number }) {
  const { actions, device } = useApp();
  const steady = useSteady(ask.id, place);
  const allow = onceOnly(ask.choices);
  const deny = sides(ask.choices).denying[0];
  const open = () => openSheet("ask", ask.id);
  const cut = onCard(ask).more > 0;
  const answer = (choice: string) => {
    if (steady()) actions.answer(ask.id, [choice]);
  };
  if (ask.answering) return <p class="small dim">{t("answering")}</p>;
  if (device.value?.readOnly) {
    return (
      <div class="buttons">
        <button type="button" class="button" onClick={open}>
          {t("readIt")}
        </button>
      </div>
    );
  }
  // What was not shown whole, and where it would be done, is not answered from here.
  if (ask.about !== "permission" || !allow || !deny || cut || !ask.where) {
    const words = ask.about === "plan" ? t("readPlan") : ask.about === "choice" ? t("answerIt") : t("readAndDecide");
    return (
      <div class="buttons">
        <button type="button" class="button" onClick={open}>
          {words}
        </button>
      </div>
    );
  }
  return (
    <>
      <div class="buttons">
        <button type="button" class="button danger" onClick={() => answer(deny.id)}>
          {t("deny")}
        </button>
        <button type="button" class="button primary" onClick={() => answer(allow.id)}>
          {t("allowOnce")}
        </button>
      </div>
      <button type="button" class="text-button ask-more" onClick={open}>
        {t("moreChoices")}
      </button>
    </>
  );
}
