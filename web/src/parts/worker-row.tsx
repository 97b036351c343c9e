/** One worker in the list: who, how it stands in words, its last line, what is unread. */

import { useApp } from "../state/context";
import type { Worker } from "../state/types";
import { begun, t, told } from "../texts";
import { brandOf, Sign, tint } from "./backend";
import { address } from "./route";
import { sprintWords } from "./sprint";
import { StateWords } from "./state-words";
import { ago, dollars, nearLimit } from "./times";
import { Shown } from "./visible";

export function WorkerRow({ worker, current }: { worker: Worker; current: boolean }) {
  const { clock } = useApp();
  return (
    <li>
      <a
        class={`worker ${tint(worker.backend)}`}
        href={address({ worker: worker.name })}
        aria-current={current ? "true" : undefined}
      >
        <Sign backend={worker.backend} />
        <span class="grow">
          <span class="worker-first">
            <b class="one">{worker.name}</b>
            <span class="small dim one grow">
              <StateWords worker={worker} /> · {brandOf(worker.backend).name}
            </span>
            {worker.lastAt ? <span class="small faint">{ago(worker.lastAt, clock.value)}</span> : null}
          </span>
          <span class="worker-second">
            <span class="one dim grow">
              <Line worker={worker} />
            </span>
            <span class="small faint">
              {[nearLimit(worker.usage), dollars(worker.usage.cost_dollars)].filter(Boolean).join(" · ")}
            </span>
            {worker.unread ? (
              <span class="count">
                {worker.unread}
                <span class="unseen"> {t("unread")}</span>
              </span>
            ) : null}
          </span>
        </span>
      </a>
    </li>
  );
}

function Line({ worker }: { worker: Worker }) {
  if (worker.state === "offline" && worker.whyOffline)
    return <Shown text={begun(told(worker.whyOffline, worker.whyOfflinePhrase))} />;
  if (worker.sprint && !worker.asks.length) return <SprintWords worker={worker} />;
  if (worker.state === "working" && worker.doing) return <Shown text={`▸ ${worker.doing}`} strict />;
  if (worker.queue.length && worker.state === "limited") return <>{t("messagesWait", { n: worker.queue.length })}</>;
  const mine = worker.lastBy === "manager" ? `${t("you")}: ` : "";
  return <Shown text={mine + (worker.lastLine || t("nothingSaidYet"))} />;
}

function SprintWords({ worker }: { worker: Worker }) {
  const { clock } = useApp();
  return (
    <>
      {t("sprint")} {worker.sprint ? sprintWords(worker.sprint, clock.value) : ""}
    </>
  );
}
