/** The team: what waits for the person first, then everybody, with a way to hire. */

import { AskCard } from "../parts/ask-card";
import { Icon } from "../parts/icon";
import { Loading, Notice } from "../parts/notice";
import { address, openSheet, route } from "../parts/route";
import { dollars } from "../parts/times";
import { WorkerRow } from "../parts/worker-row";
import { useApp, useMayWrite } from "../state/context";
import type { Worker } from "../state/types";
import { t } from "../texts";

export function TeamScreen() {
  const { team } = useApp();
  return (
    <>
      <TeamTop />
      <div class="body">
        <WaitsForYou />
        {team.value === null ? (
          <Loading text={t("loadingTeam")} />
        ) : (
          <Everybody team={team.value.filter((one) => one.judges === "")} />
        )}
      </div>
    </>
  );
}

function TeamTop() {
  const { team, connection } = useApp();
  const spent = (team.value ?? []).reduce((sum, worker) => sum + (worker.usage.cost_dollars ?? 0), 0);
  const live = connection.value.link === "live";
  return (
    <header class="top plain">
      <span class="mark">
        <Icon name="hand" size={36} />
      </span>
      <h1 class="grow">farhand</h1>
      <span class="small dim team-link">
        <span class={live ? "dot on" : "dot"} aria-hidden="true" />
        {live ? t("connected") : connection.value.link === "offline" ? t("offline") : t("connecting")}
      </span>
      {spent ? (
        <span class="small dim" title={t("spentSoFar")}>
          {dollars(spent)}
        </span>
      ) : null}
      <a class="icon-button" href={address({ screen: "search" })} aria-label={t("search")}>
        <Icon name="search" />
      </a>
    </header>
  );
}

function WaitsForYou() {
  const { asks, team } = useApp();
  if (asks.value.length === 0) return null;
  return (
    <section aria-labelledby="waits">
      <h2 class="section" id="waits">
        <span>{t("waitsForYou")}</span>
        <span class="accent">{asks.value.length}</span>
      </h2>
      <div class="cards">
        {asks.value.map((ask, place) => (
          <AskCard key={ask.id} ask={ask} place={place} worker={team.value?.find((one) => one.name === ask.worker)} />
        ))}
      </div>
    </section>
  );
}

function Everybody({ team }: { team: readonly Worker[] }) {
  const mayWrite = useMayWrite();
  if (team.length === 0) {
    return (
      <Notice icon="hand" text={t("nobodyYet")}>
        {mayWrite ? (
          <button type="button" class="button primary" onClick={() => openSheet("hire")}>
            {t("hireFirst")}
          </button>
        ) : null}
      </Notice>
    );
  }
  return (
    <section aria-labelledby="team">
      <h2 class="section" id="team">
        <span>
          {t("team")} · {team.length}
        </span>
        {mayWrite ? (
          <button type="button" class="text-button hire" onClick={() => openSheet("hire")}>
            {t("hire")} <Icon name="plus" />
          </button>
        ) : null}
      </h2>
      <ul class="workers">
        {team.map((worker) => (
          <WorkerRow key={worker.name} worker={worker} current={route.value.worker === worker.name} />
        ))}
      </ul>
    </section>
  );
}
