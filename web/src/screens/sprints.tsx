/** Every sprint that runs, over all workers, and a way to begin one. */

import { Sign, tint } from "../parts/backend";
import { Icon } from "../parts/icon";
import { Notice } from "../parts/notice";
import { address, openSheet } from "../parts/route";
import { SprintBar, SprintTasks, sprintWords } from "../parts/sprint";
import { StateWords } from "../parts/state-words";
import { useApp } from "../state/context";
import type { SprintNow } from "../state/sprints";
import type { Worker } from "../state/types";
import { t } from "../texts";

export function SprintsScreen() {
  const { team, device } = useApp();
  const everybody = team.value ?? [];
  const running = everybody.flatMap((worker) => (worker.sprint ? [{ worker, sprint: worker.sprint }] : []));
  const free = device.value?.readOnly ? [] : everybody.filter((worker) => !worker.sprint);
  return (
    <>
      <header class="top">
        <a class="icon-button" href={address({ screen: "more" })} aria-label={t("back")}>
          <Icon name="back" />
        </a>
        <h1 class="grow">{t("sprints")}</h1>
      </header>
      <div class="body">
        {running.length === 0 ? <Notice icon="bolt" text={t("noSprints")} inline /> : null}
        <div class="cards">
          {running.map(({ worker, sprint }) => (
            <SprintCard key={worker.name} worker={worker} sprint={sprint} />
          ))}
        </div>
        {free.length ? (
          <>
            <h2 class="section">{t("sprintGiveTo")}</h2>
            <ul class="workers">
              {free.map((worker) => (
                <li key={worker.name}>
                  <button
                    type="button"
                    class={`worker ${tint(worker.backend)}`}
                    onClick={() => openSheet("sprint", worker.name)}
                  >
                    <Sign backend={worker.backend} />
                    <span class="grow worker-first">
                      <b class="one">{worker.name}</b>
                      <span class="small dim one grow">
                        <StateWords worker={worker} />
                      </span>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </>
        ) : null}
      </div>
    </>
  );
}

function SprintCard({ worker, sprint }: { worker: Worker; sprint: SprintNow }) {
  const { clock } = useApp();
  return (
    <article class={`card ${tint(worker.backend)}`} aria-label={t("sprintOf", { name: worker.name })}>
      <p class="small dim">
        <span class="name">{worker.name}</span> · <StateWords worker={worker} />
      </p>
      <p class="sprint-words">{sprintWords(sprint, clock.value)}</p>
      <SprintBar sprint={sprint} />
      <SprintTasks sprint={sprint} />
      <div class="buttons">
        <a class="button" href={address({ worker: worker.name })}>
          {t("openConversation")}
        </a>
        <button type="button" class="button" onClick={() => openSheet("sprint", worker.name)}>
          {t("changeSprint")}
        </button>
      </div>
    </article>
  );
}
