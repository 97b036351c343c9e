/** About one worker: what it is, its model and mode, and what can be done with it. */

import { useEffect, useState } from "preact/hooks";
import { brandOf, tint } from "../parts/backend";
import { closeSheet, go } from "../parts/route";
import { Sheet } from "../parts/sheet";
import { dollars, tokens } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { HireChoice, Outcome, Worker } from "../state/types";
import { t } from "../texts";
import { Modes } from "./hire-sheet";

export function WorkerSheet({ worker }: { worker: Worker }) {
  const { actions } = useApp();
  const [problem, setProblem] = useState("");
  const [choices, setChoices] = useState<HireChoice>();
  useEffect(() => {
    void actions.hireChoices().then((found) => setChoices(found.find((one) => one.backend === worker.backend)));
  }, [actions, worker.backend]);
  const tell = async (done: Promise<Outcome>, then?: () => void) => {
    const outcome = await done;
    setProblem(outcome.ok ? "" : outcome.why);
    if (outcome.ok) then?.();
  };
  return (
    <Sheet title={worker.name} tint={tint(worker.backend)}>
      <Facts worker={worker} />
      {problem ? (
        <p class="bad small" role="alert">
          <Shown text={problem} />
        </p>
      ) : null}
      {choices?.models.length ? (
        <label class="field">
          <span class="label">{t("model")}</span>
          <select
            class="input"
            value={worker.model}
            onChange={(event) => void tell(actions.tune(worker.name, { model: event.currentTarget.value }))}
          >
            {choices.models.includes(worker.model) ? null : (
              <option value={worker.model}>{worker.model || t("usualModel")}</option>
            )}
            {choices.models.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <Modes
        modes={choices?.modes ?? []}
        mode={worker.mode}
        onPick={(mode) => void tell(actions.tune(worker.name, { mode }))}
      />
      <div class="stack">
        <button
          type="button"
          class="button"
          onClick={() => go({ worker: worker.name, side: "terminal" }, { replace: true })}
        >
          {t("terminal")}
        </button>
        {worker.focused ? null : (
          <button type="button" class="button" onClick={() => void tell(actions.focus(worker.name), closeSheet)}>
            {t("focusIt")}
          </button>
        )}
        <button type="button" class="button" onClick={() => void tell(actions.relaunch(worker.name), closeSheet)}>
          {t("relaunchKeeps")}
        </button>
        <EndButtons
          onEnd={(handBack) => void tell(actions.end(worker.name, handBack), () => go({}, { replace: true }))}
        />
      </div>
    </Sheet>
  );
}

function Facts({ worker }: { worker: Worker }) {
  const used = (worker.usage.input_tokens ?? 0) + (worker.usage.output_tokens ?? 0);
  const facts: readonly (readonly [string, string])[] = [
    [t("agent"), [brandOf(worker.backend).name, worker.wire].filter(Boolean).join(" · ")],
    [t("folder"), worker.directory],
    [t("session"), worker.session],
    [t("used"), [used ? `${tokens(used)} tokens` : "", dollars(worker.usage.cost_dollars)].filter(Boolean).join(" · ")],
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
