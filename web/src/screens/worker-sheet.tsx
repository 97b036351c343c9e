/** About one worker: what it is, its model, mode and effort, and what can be done with it. */

import { useEffect, useState } from "preact/hooks";
import { useAbilities } from "../parts/abilities";
import { brandOf, tint } from "../parts/backend";
import { Problem } from "../parts/notice";
import { closeSheet, go, openSheet } from "../parts/route";
import { Sheet } from "../parts/sheet";
import { dollars, tokens, windowWords } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp, useMayWrite } from "../state/context";
import type { HireChoice, Outcome, Worker } from "../state/types";
import { t } from "../texts";
import { Modes, modesOf, wireOf } from "./hire-sheet";

export function WorkerSheet({ worker }: { worker: Worker }) {
  const { actions } = useApp();
  const [problem, setProblem] = useState("");
  const [choices, setChoices] = useState<HireChoice>();
  useEffect(() => {
    void actions.hireChoices().then(
      (found) => setChoices(found.backends.find((one) => one.backend === worker.backend)),
      () => undefined,
    );
  }, [actions, worker.backend]);
  const { pane } = useAbilities(worker);
  const mayWrite = useMayWrite();
  const effort = wireOf(choices, worker.wire)?.effort ?? [];
  const tell = async (done: Promise<Outcome>, then?: () => void) => {
    const outcome = await done;
    setProblem(outcome.ok ? "" : outcome.why);
    if (outcome.ok) then?.();
  };
  return (
    <Sheet title={worker.name} tint={tint(worker.backend)}>
      <Facts worker={worker} />
      <Problem text={problem} />
      {mayWrite && choices?.models.length ? (
        <Choice
          label={t("model")}
          value={worker.model}
          usual={t("usualModel")}
          values={choices.models}
          onPick={(model) => void tell(actions.tune(worker.name, { model }))}
        />
      ) : null}
      {mayWrite && effort.length ? (
        <Choice
          label={t("effort")}
          value={worker.effort}
          usual={t("usualEffort")}
          values={effort}
          onPick={(one) => void tell(actions.tune(worker.name, { effort: one }))}
        />
      ) : null}
      {mayWrite ? (
        <Modes
          modes={modesOf(choices, worker.wire)}
          mode={worker.mode}
          onPick={(mode) => void tell(actions.tune(worker.name, { mode }))}
        />
      ) : null}
      <div class="stack">
        {worker.judges || !mayWrite ? null : (
          <button type="button" class="button" onClick={() => openSheet("review", worker.name)}>
            {t("review")}
          </button>
        )}
        {pane ? (
          <button
            type="button"
            class="button"
            onClick={() => go({ worker: worker.name, side: "terminal" }, { replace: true })}
          >
            {t("terminal")}
          </button>
        ) : null}
        {worker.sprint || mayWrite ? (
          <button type="button" class="button" onClick={() => openSheet("sprint", worker.name)}>
            {worker.sprint ? t("sprintOf", { name: worker.name }) : t("sprintGive")}
          </button>
        ) : null}
        {worker.focused || !mayWrite ? null : (
          <button type="button" class="button" onClick={() => void tell(actions.focus(worker.name), closeSheet)}>
            {t("focusIt")}
          </button>
        )}
        {mayWrite ? (
          <>
            <button type="button" class="button" onClick={() => void tell(actions.relaunch(worker.name), closeSheet)}>
              {t("relaunchKeeps")}
            </button>
            <EndButtons
              onEnd={(handBack) => void tell(actions.end(worker.name, handBack), () => go({}, { replace: true }))}
            />
          </>
        ) : null}
      </div>
    </Sheet>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly usual: string;
  readonly values: readonly string[];
  readonly onPick: (value: string) => void;
}

/** One of several; what it has now stands there although it is none of them. */
function Choice({ label, value, usual, values, onPick }: ChoiceProps) {
  return (
    <label class="field">
      <span class="label">{label}</span>
      <select class="input" value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {values.includes(value) ? null : <option value={value}>{value || usual}</option>}
        {values.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function Facts({ worker }: { worker: Worker }) {
  const used = (worker.usage.input_tokens ?? 0) + (worker.usage.output_tokens ?? 0);
  const facts: readonly (readonly [string, string])[] = [
    [t("agent"), [brandOf(worker.backend).name, worker.wire].filter(Boolean).join(" · ")],
    [t("folder"), worker.directory],
    [t("session"), worker.session],
    [t("used"), [used ? `${tokens(used)} tokens` : "", dollars(worker.usage.cost_dollars)].filter(Boolean).join(" · ")],
    [t("limitsUsed"), (worker.usage.windows ?? []).map(windowWords).join(" · ")],
  ];
  return (
    <dl class="circumstances small">
      {facts.map(([name, value]) =>
        value ? (
          <>
            <dt>{name}</dt>
            <dd>
              <Shown text={value} strict />
            </dd>
          </>
        ) : null,
      )}
    </dl>
  );
}

/** Ending is asked for twice: the second button says what it does. */
function EndButtons({ onEnd }: { onEnd: (handBack: boolean) => void }) {
  const [sure, setSure] = useState(false);
  if (!sure) {
    return (
      <button type="button" class="button danger" onClick={() => setSure(true)}>
        {t("letGo")}
      </button>
    );
  }
  return (
    <>
      <button type="button" class="button" onClick={() => onEnd(true)}>
        {t("handBack")}
      </button>
      <button type="button" class="button danger" onClick={() => onEnd(false)}>
        {t("letGoReally")}
      </button>
    </>
  );
}
