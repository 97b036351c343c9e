/** A sprint: its line above the composer, and its tasks with what became of each. */

import { useApp } from "../state/context";
import type { SprintNow, SprintTask } from "../state/sprints";
import type { Worker } from "../state/types";
import { t } from "../texts";
import { Icon } from "./icon";
import { openSheet } from "./route";
import { dollars, running } from "./times";
import { Shown } from "./visible";

/** 3/10 · checks ✗ 2 · 14:03 · $0.80 */
export function sprintWords(sprint: SprintNow, now: number): string {
  return [
    sprint.ownPlan ? String(sprint.done) : `${sprint.done}/${sprint.total}`,
    sprint.failures ? t("sprintFailures", { n: sprint.failures }) : "",
    sprint.halting ? t("sprintHalting") : sprint.checking || sprint.judging ? t("sprintChecking") : "",
    running(now - sprint.began),
    dollars(sprint.cost),
  ]
    .filter(Boolean)
    .join(" · ");
}

export function SprintLine({ worker }: { worker: Worker }) {
  const { clock } = useApp();
  const { sprint } = worker;
  if (!sprint) return null;
  return (
    <button type="button" class="queue-line" onClick={() => openSheet("sprint", worker.name)}>
      <span class="chip accent">{t("sprint")}</span>
      <span class="one grow small dim">{sprintWords(sprint, clock.value)}</span>
      <Icon name="up" />
    </button>
  );
}

export function SprintBar({ sprint }: { sprint: SprintNow }) {
  if (sprint.ownPlan) return null;
  return <progress class="sprint-bar" max={sprint.total} value={sprint.done} aria-label={t("sprint")} />;
}

export function SprintTasks({ sprint }: { sprint: SprintNow }) {
  return (
    <ol class="sprint-tasks">
      {sprint.tasks.map((task, place) => (
        <Task key={place} task={task} place={place} />
      ))}
    </ol>
  );
}

const SIGNS = { done: "check", failed: "cross", now: "bolt", todo: "dots" } as const;

function Task({ task, place }: { task: SprintTask; place: number }) {
  const aside = [
    task.state === "now" && task.rounds > 1 ? t("roundOf", { n: task.rounds }) : "",
    task.state !== "now" && task.rounds > 1 ? t("roundsTaken", { n: task.rounds }) : "",
    task.commit,
  ].filter(Boolean);
  return (
    <li class={`sprint-task ${task.state}`} aria-current={task.state === "now" ? "step" : undefined}>
      <Icon name={SIGNS[task.state]} size={12} />
      <span class="grow">
        <span class="faint">{place + 1} </span>
        <Shown text={task.text || t("nextOfPlan")} />
        {task.why ? (
          <span class="sprint-why small dim">
            <Shown text={task.why.slice(0, 600)} />
          </span>
        ) : null}
      </span>
      {aside.length ? <span class="small dim">{aside.join(" · ")}</span> : null}
    </li>
  );
}
