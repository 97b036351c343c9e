/** Everything that waits for the person, over all workers, the oldest ask first; then what was not read yet. */

import { AskCard } from "../parts/ask-card";
import { Digest } from "../parts/digest";
import { Notice } from "../parts/notice";
import { WorkerRow } from "../parts/worker-row";
import { useApp } from "../state/context";
import { t } from "../texts";

export function InboxScreen() {
  const { asks, team } = useApp();
  const oldest = [...asks.value].sort((a, b) => a.raisedAt - b.raisedAt);
  const unread = (team.value ?? []).filter((worker) => worker.unread > 0 && worker.asks.length === 0);
  const stuck = (team.value ?? []).filter((worker) => worker.state === "offline" && worker.asks.length === 0);
  const rest = [...new Set([...stuck, ...unread])];
  return (
    <>
      <header class="top plain">
        <h1 class="grow">{t("inbox")}</h1>
        {oldest.length ? <span class="small dim">{t("oldestFirst")}</span> : null}
      </header>
      <div class="body">
        {oldest.length + rest.length === 0 ? <Notice icon="check" text={t("nothingWaits")} /> : null}
        <div class="cards">
          {oldest.map((ask, place) => (
            <AskCard key={ask.id} ask={ask} place={place} worker={team.value?.find((one) => one.name === ask.worker)} />
          ))}
        </div>
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
