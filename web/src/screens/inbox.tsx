/** Everything that waits for the person, over all workers, the oldest ask first; then what else needs them or was not read yet. */

import { AskCard } from "../parts/ask-card";
import { Digest } from "../parts/digest";
import { Notice } from "../parts/notice";
import { address } from "../parts/route";
import { Shown } from "../parts/visible";
import { WorkerRow } from "../parts/worker-row";
import { useApp } from "../state/context";
import type { Waits } from "../state/types";
import { type TextKey, t } from "../texts";

/** What has words of its own here; who is offline is a row of the team, and a question is a card. */
const WORDS: Partial<Record<Waits["kind"], TextKey>> = {
  doubt: "inboxDoubt",
  limit: "digestLimit",
  review: "inboxReview",
  sprint: "inboxSprint",
};

export function InboxScreen() {
  const { asks, team } = useApp();
  const oldest = [...asks.value].sort((a, b) => a.raisedAt - b.raisedAt);
  const unread = (team.value ?? []).filter((worker) => worker.unread > 0 && worker.asks.length === 0);
  const stuck = (team.value ?? []).filter((worker) => worker.state === "offline" && worker.asks.length === 0);
  const rest = [...new Set([...stuck, ...unread])];
  const waits = (team.value ?? []).flatMap((worker) => worker.waits).filter((item) => WORDS[item.kind]);
  return (
    <>
      <header class="top plain">
        <h1 class="grow">{t("inbox")}</h1>
        {oldest.length ? <span class="small dim">{t("oldestFirst")}</span> : null}
      </header>
      <div class="body">
        {oldest.length + waits.length + rest.length === 0 ? <Notice icon="check" text={t("nothingWaits")} /> : null}
        <div class="cards">
          {oldest.map((ask, place) => (
            <AskCard key={ask.id} ask={ask} place={place} worker={team.value?.find((one) => one.name === ask.worker)} />
          ))}
        </div>
        {waits.length ? (
          <ul class="links digest">
            {waits.map((item) => (
              <WaitsRow key={`${item.kind} ${item.worker} ${item.key}`} item={item} />
            ))}
          </ul>
        ) : null}
        <Digest />
        {rest.length ? (
          <>
            <h2 class="section">{t("worthALook")}</h2>
            <ul class="workers">
              {rest.map((worker) => (
                <WorkerRow key={worker.name} worker={worker} current={false} />
              ))}
            </ul>
          </>
        ) : null}
      </div>
    </>
  );
}

function WaitsRow({ item }: { item: Waits }) {
  const { kind, worker, text } = item;
  const words = t(WORDS[kind] ?? "inbox", { worker, text });
  const sheet = kind === "sprint" || kind === "review" ? `${kind}:${worker}` : "";
  return (
    <li>
      <a class="link-row" href={address({ worker, sheet })}>
        <span class="grow one">
          <Shown text={words.replace(/[:：\s]+$/u, "")} />
        </span>
      </a>
    </li>
  );
}
