/** Hires a worker: which agent, its name, its folder, its model, and what it may do unasked. */

import { useEffect, useState } from "preact/hooks";
import { brandOf, Sign, tint } from "../parts/backend";
import { MODE_MEANINGS, MODE_TEXTS } from "../parts/modes";
import { Loading } from "../parts/notice";
import { go } from "../parts/route";
import { Sheet } from "../parts/sheet";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { HireChoice, HireRequest, Mode } from "../state/types";
import { t } from "../texts";

const NAMES =
  "ann ben cora dan eva finn gus hana ivy jon kim leo mia ned otto pia quin rosa sam tess uma vera wes yara zoe".split(
    " ",
  );

/** The first name that nobody has. */
export function freeName(taken: readonly string[]): string {
  return NAMES.find((name) => !taken.includes(name)) ?? `ann${taken.length}`;
}

export function HireSheet() {
  const { actions, team } = useApp();
  const [choices, setChoices] = useState<readonly HireChoice[]>();
  const [backend, setBackend] = useState("");
  const [name, setName] = useState(() => freeName((team.value ?? []).map((worker) => worker.name)));
  const [directory, setDirectory] = useState("");
  const [model, setModel] = useState("");
  const [mode, setMode] = useState<Mode>("default");
  const [wire, setWire] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    void actions.hireChoices().then((found) => {
      setChoices(found);
      setBackend((found.find((one) => one.installed) ?? found[0])?.backend ?? "");
    });
  }, [actions]);
  const chosen = choices?.find((one) => one.backend === backend);
  const hire = async () => {
    setBusy(true);
    const request: HireRequest = {
      name: name.trim(),
      backend,
      mode,
      ...(directory.trim() ? { directory: directory.trim() } : {}),
      ...(model ? { model } : {}),
      ...(wire ? { wire } : {}),
    };
    const outcome = await actions.hire(request);
    setBusy(false);
    if (outcome.ok) go({ worker: request.name }, { replace: true });
    else setProblem(outcome.why);
  };
  return (
    <Sheet
      title={t("hireTitle")}
      tint={tint(backend)}
      foot={
        <>
          {problem ? (
            <p class="bad small" role="alert">
              <Shown text={problem} />
            </p>
          ) : null}
          <div class="buttons">
            <button
              type="button"
              class="button primary"
              disabled={(choices?.length ? !chosen?.installed : !choices) || name.trim() === "" || busy}
              onClick={() => void hire()}
            >
              {busy ? t("hiring") : t("hireNow", { name: name.trim() || "…" })}
            </button>
          </div>
        </>
      }
    >
      {choices ? (
        <Backends
          choices={choices}
          backend={backend}
          onPick={(one) => {
            setBackend(one);
            setModel("");
            setWire("");
          }}
        />
      ) : (
        <Loading text={t("loading")} rows={3} />
      )}
      <label class="field">
        <span class="label">{t("name")}</span>
        <input
          class="input"
          value={name}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <Folder value={directory} onInput={setDirectory} />
      {chosen?.models.length ? (
        <Pick label={t("model")} value={model} first={t("usualModel")} values={chosen.models} onPick={setModel} />
      ) : null}
      {(chosen?.wires.length ?? 0) > 1 ? (
        <Pick label={t("wire")} value={wire} first={t("usualWire")} values={chosen?.wires ?? []} onPick={setWire} />
      ) : null}
      <Modes modes={chosen?.modes ?? []} mode={mode} onPick={setMode} />
    </Sheet>
  );
}

function Backends({
  choices,
  backend,
  onPick,
}: {
  choices: readonly HireChoice[];
  backend: string;
  onPick: (backend: string) => void;
}) {
  return (
    <fieldset class="backends">
      <legend class="label small dim">{t("agent")}</legend>
      {choices.map((choice) => (
        <label key={choice.backend} class={`backend ${tint(choice.backend)}`}>
          <input
            type="radio"
            name="backend"
            class="unseen"
            checked={choice.backend === backend}
            onChange={() => onPick(choice.backend)}
          />
          <Sign backend={choice.backend} />
          <span class="grow">
            <b>{brandOf(choice.backend).name}</b>
            <span class="small dim one">{choice.installed ? t("installed") : choice.hint || t("notInstalled")}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A folder is written, or one that the team already works in is taken. */
function Folder({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  const { team } = useApp();
  const known = [...new Set((team.value ?? []).map((worker) => worker.directory))].slice(0, 6);
  return (
    <label class="field">
      <span class="label">{t("folder")}</span>
      <input
        class="input"
        value={value}
        placeholder={t("usualFolder")}
        autocapitalize="none"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        list="folders"
      />
      <datalist id="folders">
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}

function Pick({
  label,
  value,
  first,
  values,
  onPick,
}: {
  label: string;
  value: string;
  first: string;
  values: readonly string[];
  onPick: (value: string) => void;
}) {
  return (
    <label class="field">
      <span class="label">{label}</span>
      <select class="input" value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        <option value="">{first}</option>
        {values.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Modes({ modes, mode, onPick }: { modes: readonly Mode[]; mode: Mode; onPick: (mode: Mode) => void }) {
  if (modes.length === 0) return null;
  return (
    <fieldset class="choices">
      <legend class="label small dim">{t("mode")}</legend>
      {modes.map((one) => (
        <label class="choice" key={one}>
          <input type="radio" name="mode" checked={mode === one} onChange={() => onPick(one)} />
          <span class="grow">
            <b class={one === "yolo" ? "bad" : ""}>{t(MODE_TEXTS[one])}</b>
            <span class="scope small dim">{t(MODE_MEANINGS[one])}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
