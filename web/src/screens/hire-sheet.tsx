/** Hires a worker: which agent, its name, its folder, its model, how hard it thinks, and what it may do unasked. */

import { useEffect, useState } from "preact/hooks";
import { brandOf, Sign, tint } from "../parts/backend";
import { shortFolder } from "../parts/folders";
import { Icon } from "../parts/icon";
import { PlainInput } from "../parts/input";
import { MODE_MEANINGS, MODE_TEXTS } from "../parts/modes";
import { Loading, Notice } from "../parts/notice";
import { go } from "../parts/route";
import { Sheet, SheetAction } from "../parts/sheet";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { HireChoice, HireChoices, HireRequest, Mode } from "../state/types";
import { begun, t } from "../texts";

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
  const [offer, setOffer] = useState<HireChoices>();
  const [failed, setFailed] = useState(false);
  const [backend, setBackend] = useState("");
  const [name, setName] = useState(() => freeName((team.value ?? []).map((worker) => worker.name)));
  const [directory, setDirectory] = useState("");
  const [model, setModel] = useState("");
  const [effort, setEffort] = useState("");
  const [mode, setMode] = useState<Mode>("default");
  const [wire, setWire] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const load = () => {
    setFailed(false);
    actions.hireChoices().then(
      (found) => {
        setOffer(found);
        setBackend(firstBackend(found));
      },
      () => setFailed(true),
    );
  };
  useEffect(load, [actions]);
  const choices = offer?.backends;
  const chosen = choices?.find((one) => one.backend === backend);
  const modes = modesOf(chosen, wire);
  const efforts = wireOf(chosen, wire)?.effort ?? [];
  const allowed = modes.includes(mode) ? mode : (modes[0] ?? mode);
  const hire = async () => {
    setBusy(true);
    const request: HireRequest = {
      name: name.trim(),
      backend,
      mode: allowed,
      ...(directory.trim() ? { directory: directory.trim() } : {}),
      ...(model ? { model } : {}),
      ...(efforts.includes(effort) ? { effort } : {}),
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
        <SheetAction
          label={busy ? t("hiring") : t("hireNow", { name: name.trim() || "…" })}
          disabled={(choices?.length ? !chosen?.installed : !choices) || name.trim() === "" || busy}
          problem={problem}
          onClick={() => void hire()}
        />
      }
    >
      {choices ? (
        <Backends
          choices={choices}
          backend={backend}
          onPick={(one) => {
            setBackend(one);
            setModel("");
            setEffort("");
            setWire("");
          }}
        />
      ) : failed ? (
        <Notice icon="warn" text={t("couldNotLoad")} inline>
          <button type="button" class="button" onClick={load}>
            {t("tryAgain")}
          </button>
        </Notice>
      ) : (
        <Loading text={t("loading")} rows={3} />
      )}
      {chosen && !chosen.installed ? (
        <div role="status">
          <p class="small dim">{t("installFirst")}</p>
          {chosen.hint ? <code class="command">{chosen.hint}</code> : null}
        </div>
      ) : null}
      <label class="field">
        <span class="label">{t("name")}</span>
        <PlainInput value={name} onInput={setName} />
      </label>
      <Folder value={directory} offer={offer} onInput={setDirectory} />
      {chosen?.models.length ? (
        <Pick label={t("model")} value={model} first={t("usualModel")} values={chosen.models} onPick={setModel} />
      ) : null}
      {efforts.length ? (
        <Pick label={t("effort")} value={effort} first={t("usualEffort")} values={efforts} onPick={setEffort} />
      ) : null}
      {(chosen?.wires.length ?? 0) > 1 ? (
        <Pick
          label={t("wire")}
          value={wire}
          first={t("usualWire")}
          values={chosen?.wires.map((one) => one.wire) ?? []}
          onPick={setWire}
        />
      ) : null}
      <Modes modes={modes} mode={allowed} onPick={setMode} />
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
            <span class="small dim one">{choice.installed ? t("installed") : t("notInstalled")}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The agent that the node would hire, if it can; else the first that is installed. */
function firstBackend({ backend, backends }: HireChoices): string {
  const able = backends.filter((one) => one.installed);
  return (able.find((one) => one.backend === backend) ?? able[0] ?? backends[0])?.backend ?? "";
}

/** What can be chosen when an agent is run that way; the usual one is the first. */
export function wireOf(choice: HireChoice | undefined, wire: string): HireChoice["wires"][number] | undefined {
  return choice?.wires.find((one) => one.wire === wire) ?? choice?.wires[0];
}

/** What an agent may then be allowed. */
export function modesOf(choice: HireChoice | undefined, wire: string): readonly Mode[] {
  return wireOf(choice, wire)?.modes ?? [];
}

interface FolderProps {
  readonly value: string;
  readonly offer: HireChoices | undefined;
  readonly onInput: (value: string) => void;
}

const MOST_FOLDERS = 5;

/** A folder is written, or one is taken that the team or its agents already worked in. */
function Folder({ value, offer, onInput }: FolderProps) {
  const known = (offer?.folders ?? []).filter((one) => one !== offer?.directory).slice(0, MOST_FOLDERS);
  return (
    <div class="field">
      <label>
        <span class="label">{t("folder")}</span>
        <PlainInput value={value} placeholder={offer?.directory || t("usualFolder")} onInput={onInput} />
      </label>
      {known.length ? (
        <div class="folder-picks">
          {known.map((one) => (
            <button
              type="button"
              key={one}
              class="chip pick"
              aria-pressed={value === one}
              onClick={() => onInput(value === one ? "" : one)}
            >
              <Icon name="folder" size={12} /> <Shown text={shortFolder(one)} strict />
            </button>
          ))}
        </div>
      ) : null}
    </div>
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
            <b class={one === "yolo" ? "bad" : ""}>{begun(t(MODE_TEXTS[one]))}</b>
            <span class="scope small dim">{t(MODE_MEANINGS[one])}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
