/** One worker's sprint: how it stands and what can be done about it, or what a new one needs. */

import { useState } from "preact/hooks";
import { tint } from "../parts/backend";
import { PlainInput } from "../parts/input";
import { Problem } from "../parts/notice";
import { closeSheet } from "../parts/route";
import { Sheet, SheetAction } from "../parts/sheet";
import { SprintBar, SprintTasks, sprintWords } from "../parts/sprint";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import { MOST_TASKS, type SprintNow, tasksOf, USUAL_MINUTES, USUAL_ROUNDS } from "../state/sprints";
import type { Outcome, Worker } from "../state/types";
import { t } from "../texts";

export function SprintSheet({ worker }: { worker: Worker }) {
  return worker.sprint ? <Running worker={worker} sprint={worker.sprint} /> : <Starting worker={worker} />;
}

/** Does something, and tells why not where it cannot be done. */
function useTelling(): { problem: string; busy: boolean; tell: (done: Promise<Outcome>, then?: () => void) => void } {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const tell = (done: Promise<Outcome>, then?: () => void) => {
    setBusy(true);
    void done.then((outcome) => {
      setBusy(false);
      setProblem(outcome.ok ? "" : outcome.why);
      if (outcome.ok) then?.();
    });
  };
  return { problem, busy, tell };
}

function Running({ worker, sprint }: { worker: Worker; sprint: SprintNow }) {
  const { actions, clock, device } = useApp();
  const { problem, busy, tell } = useTelling();
  const [task, setTask] = useState("");
  const mayWrite = !device.value?.readOnly;
  return (
    <Sheet
      title={t("sprintOf", { name: worker.name })}
      tint={tint(worker.backend)}
      foot={
        mayWrite ? (
          <>
            <Problem text={problem} />
            <div class="buttons">
              <button
                type="button"
                class="button danger"
                disabled={busy}
                onClick={() => tell(actions.sprints.halt(worker.name, true))}
              >
                {t("sprintStopNow")}
              </button>
              <button
                type="button"
                class="button"
                disabled={busy || sprint.halting}
                onClick={() => tell(actions.sprints.halt(worker.name, false))}
              >
                {sprint.halting ? t("sprintHalting") : t("sprintStop")}
              </button>
            </div>
          </>
        ) : undefined
      }
    >
      <p class="sprint-words">{sprintWords(sprint, clock.value)}</p>
      <SprintBar sprint={sprint} />
      <p class="small dim">
        {sprint.verifier ? (
          <>
            {t("sprintVerifier")}: <Shown text={sprint.verifier} strict />
          </>
        ) : (
          t("withoutCheck")
        )}
      </p>
      {sprint.reviewers.length ? (
        <p class={sprint.judging ? "small accent" : "small dim"}>
          {t("reviewGate")}: <Shown text={sprint.reviewers.join(", ")} strict />
          {sprint.judging ? ` · ${t("reviewing")}` : ""}
        </p>
      ) : null}
      <SprintTasks sprint={sprint} />
      {mayWrite ? (
        <>
          <button type="button" class="button" disabled={busy} onClick={() => tell(actions.sprints.skip(worker.name))}>
            {t("skipTask")}
          </button>
          <form
            class="sprint-add"
            onSubmit={(event) => {
              event.preventDefault();
              tell(actions.sprints.add(worker.name, tasksOf(task)), () => setTask(""));
            }}
          >
            <input
              class="input grow"
              value={task}
              aria-label={t("anotherTask")}
              placeholder={t("anotherTask")}
              onInput={(event) => setTask(event.currentTarget.value)}
            />
            <button type="submit" class="button" disabled={busy || task.trim() === ""}>
              {t("addTasks")}
            </button>
          </form>
        </>
      ) : null}
    </Sheet>
  );
}

function Starting({ worker }: { worker: Worker }) {
  const { actions } = useApp();
  const { problem, busy, tell } = useTelling();
  const [text, setText] = useState("");
  const [verifier, setVerifier] = useState("");
  const [review, setReview] = useState("");
  const [commits, setCommits] = useState(true);
  const [rounds, setRounds] = useState(USUAL_ROUNDS);
  const [minutes, setMinutes] = useState(USUAL_MINUTES);
  const tasks = tasksOf(text);
  const start = () =>
    tell(
      actions.sprints.start(worker.name, {
        tasks,
        verifier: verifier.trim(),
        review: review.split(/[\s,]+/).filter(Boolean),
        commits,
        rounds,
        minutes,
      }),
      closeSheet,
    );
  return (
    <Sheet
      title={t("sprintOf", { name: worker.name })}
      tint={tint(worker.backend)}
      foot={
        <SheetAction
          label={tasks.length ? `${t("sprintStart")} · ${tasks.length}` : t("sprintStart")}
          disabled={busy || tasks.length > MOST_TASKS}
          problem={problem}
          onClick={start}
        />
      }
    >
      <p class="small dim">{t("sprintExplained")}</p>
      <label class="field">
        <span class="label">{t("sprintTasks")}</span>
        <textarea
          class="input"
          rows={6}
          value={text}
          placeholder={t("sprintPlanHint")}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span class="label">{t("sprintVerifier")}</span>
        <PlainInput value={verifier} placeholder={t("sprintVerifierHint")} onInput={setVerifier} />
      </label>
      <label class="field">
        <span class="label">{t("reviewGate")}</span>
        <PlainInput value={review} placeholder="codex, gemini" onInput={setReview} />
      </label>
      <label class="setting">
        <span class="grow">{t("sprintCommits")}</span>
        <input
          type="checkbox"
          role="switch"
          aria-checked={commits}
          class="switch"
          checked={commits}
          onChange={(event) => setCommits(event.currentTarget.checked)}
        />
      </label>
      <NumberField label={t("sprintRounds")} value={rounds} most={20} onPick={setRounds} />
      <NumberField label={t("sprintMinutes")} value={minutes} most={1440} onPick={setMinutes} />
    </Sheet>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly onPick: (value: number) => void;
}

function NumberField({ label, value, most, onPick }: NumberFieldProps) {
  return (
    <label class="setting">
      <span class="grow">{label}</span>
      <input
        class="input number"
        type="number"
        inputmode="numeric"
        min={1}
        max={most}
        value={value}
        onInput={(event) => {
          const wanted = Number(event.currentTarget.value);
          if (Number.isInteger(wanted) && wanted >= 1 && wanted <= most) onPick(wanted);
        }}
      />
    </label>
  );
}
