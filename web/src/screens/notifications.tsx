/** What may buzz, when and how much of it is shown; and whether this device is reached while the app is closed. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { Problem } from "../parts/notice";
import { address } from "../parts/route";
import { Shown } from "../parts/visible";
import { useApp, useMayWrite } from "../state/context";
import type { AttentionKind, AttentionSettings, PushState, PushTest } from "../state/types";
import { type TextKey, t, told } from "../texts";

const KINDS: readonly (readonly [AttentionKind, TextKey])[] = [
  ["ask", "kindAsk"],
  ["finished", "kindFinished"],
  ["failed", "kindFailed"],
  ["limit", "kindLimit"],
  ["offline", "kindOffline"],
  ["sprint", "kindSprint"],
  ["node", "kindNode"],
];
/** What the node itself has to say is no worker's. */
const OF_WORKERS = KINDS.filter(([kind]) => kind !== "node");
const ALL = KINDS.map(([kind]) => kind);
const MINUTES = [1, 2, 3, 5, 10, 15, 30, 60, 120];
const WHY: Readonly<Record<Exclude<PushState["support"], "ready">, TextKey>> = {
  denied: "pushDenied",
  insecure: "pushInsecure",
  install: "pushInstall",
  unsupported: "pushUnsupported",
};

export function NotificationsScreen() {
  return (
    <>
      <header class="top">
        <a class="icon-button" href={address({ screen: "more" })} aria-label={t("back")}>
          <Icon name="back" />
        </a>
        <h1 class="grow">{t("notifications")}</h1>
      </header>
      <div class="body">
        <p class="small dim">{t("notificationsExplained")}</p>
        <ThisDevice />
        {useMayWrite() ? <Rules /> : <p class="small dim">{t("readOnlyDevice")}</p>}
      </div>
    </>
  );
}

function ThisDevice() {
  const { actions } = useApp();
  const [push, setPush] = useState<PushState>();
  const [test, setTest] = useState<PushTest>();
  const [busy, setBusy] = useState(false);
  const load = () => actions.push().then(setPush, () => setTest({ ok: false, text: t("couldNotLoad") }));
  useEffect(() => void load(), []);
  const act = async (work: () => Promise<PushTest | undefined>) => {
    setBusy(true);
    setTest(undefined);
    setTest(await work());
    await load();
    setBusy(false);
  };
  const turn = (on: boolean) =>
    act(async () => {
      const outcome = on ? await actions.pushOn() : await actions.pushOff();
      return outcome.ok ? undefined : { ok: false, text: outcome.why === "denied" ? t("pushDenied") : outcome.why };
    });
  if (push !== undefined && push.support !== "ready") {
    return (
      <p class="small" role="status">
        {t(WHY[push.support])}
      </p>
    );
  }
  const problem = test ?? (push?.problem ? { ok: false, text: push.problem } : undefined);
  return (
    <>
      <SwitchRow
        text={t("onThisDevice")}
        on={push?.on ?? false}
        disabled={busy || push === undefined}
        change={(on) => void turn(on)}
      />
      {push?.on ? (
        <div class="stack">
          <button type="button" class="button" disabled={busy} onClick={() => void act(actions.testPush)}>
            {t("sendTest")}
          </button>
        </div>
      ) : null}
      {problem ? (
        <p class={problem.ok ? "small" : "bad small"} role="alert">
          <Shown text={told(problem.text, problem.phrase)} />
        </p>
      ) : null}
    </>
  );
}

function Rules() {
  const { attention, actions, team, clock } = useApp();
  const now = attention.value;
  const [problem, setProblem] = useState("");
  const set = async (change: Partial<AttentionSettings>) => {
    const outcome = await actions.setAttention({ ...now, ...change });
    setProblem(outcome.ok ? "" : outcome.why);
  };
  const off = now.off ?? [];
  const quiet = (now.until ?? 0) > clock.value;
  return (
    <>
      <Problem text={problem} />
      <h2 class="section">{t("quietHours")}</h2>
      <div class="stack">
        <button type="button" class="button" onClick={() => void set({ until: quiet ? 0 : clock.value + 3600 })}>
          {quiet ? t("quietOver", { time: timeOf(now.until ?? 0) }) : t("quietNow")}
        </button>
      </div>
      <Hours settings={now} set={set} />
      <SwitchRow text={t("deskQuiet")} on={now.desk ?? true} change={(desk) => void set({ desk })} />
      <h2 class="section">{t("whatBuzzes")}</h2>
      {KINDS.map(([kind, text]) => (
        <SwitchRow
          key={kind}
          text={t(text)}
          on={!off.includes(kind)}
          change={(on) => void set({ off: without(off, kind, on) })}
        />
      ))}
      <h2 class="section">{t("whoBuzzes")}</h2>
      {(team.value ?? []).map(({ name }) => (
        <OneWorker
          key={name}
          name={name}
          off={now.workers?.[name] ?? []}
          change={(kinds) => void set({ workers: ofWorker(now.workers ?? {}, name, kinds) })}
        />
      ))}
      <h2 class="section">{t("escalation")}</h2>
      <Minutes label="nextMinutes" value={now.next_minutes ?? 3} set={(value) => void set({ next_minutes: value })} />
      <Minutes
        label="againMinutes"
        value={now.again_minutes ?? 15}
        set={(value) => void set({ again_minutes: value })}
      />
      <label class="setting">
        <span class="grow">
          {t("lockScreen")}
          <span class="small dim block">{t("lockScreenHint")}</span>
        </span>
        <select
          class="input"
          value={now.lock_screen ?? "all"}
          onChange={(event) => void set({ lock_screen: event.currentTarget.value as "all" | "name" | "nothing" })}
        >
          <option value="all">{t("lockScreenAll")}</option>
          <option value="name">{t("lockScreenName")}</option>
          <option value="nothing">{t("lockScreenNothing")}</option>
        </select>
      </label>
    </>
  );
}

interface OneWorkerProps {
  readonly name: string;
  /** What it does not buzz for. */
  readonly off: readonly AttentionKind[];
  readonly change: (off: readonly AttentionKind[]) => void;
}

/** One worker: all of it, and kind by kind. Switched off and on again it is as it was before. */
function OneWorker({ name, off, change }: OneWorkerProps) {
  const before = useRef<readonly AttentionKind[]>([]);
  const isOn = OF_WORKERS.some(([kind]) => !off.includes(kind));
  const turn = (on: boolean) => {
    if (!on) before.current = off;
    change(on ? before.current : ALL);
  };
  return (
    <>
      <SwitchRow text={<Shown text={name} />} on={isOn} change={turn} />
      <Kinds
        title={t("whatBuzzes")}
        of={name}
        kinds={OF_WORKERS}
        isOn={(kind) => !off.includes(kind)}
        change={(kind, on) => change(without(off, kind, on))}
      />
    </>
  );
}

interface KindsProps {
  readonly title: string;
  /** Whose kinds these are, for whoever hears a switch and does not see it. */
  readonly of: string;
  readonly kinds: typeof KINDS;
  readonly isOn: (kind: AttentionKind) => boolean;
  readonly change: (kind: AttentionKind, on: boolean) => void;
}

/** A switch for each kind, folded under how many of them are on. */
function Kinds({ title, of, kinds, isOn, change }: KindsProps) {
  return (
    <details class="kinds">
      <summary class="small dim">
        {title}: {t("partOf", { n: kinds.filter(([kind]) => isOn(kind)).length, all: kinds.length })}
      </summary>
      {kinds.map(([kind, text]) => (
        <SwitchRow
          key={kind}
          text={
            <>
              <span class="unseen">{of}: </span>
              {t(text)}
            </>
          }
          on={isOn(kind)}
          change={(on) => change(kind, on)}
        />
      ))}
    </details>
  );
}

type Change = (change: Partial<AttentionSettings>) => Promise<void>;

function Hours({ settings, set }: { settings: AttentionSettings; set: Change }) {
  const { hours, exceptions = [] } = settings;
  // The phone's own clock counts, wherever the node is.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const change = (start: number, end: number) => void set({ hours: { start, end }, zone });
  return (
    <>
      <SwitchRow
        text={t("quietEvery")}
        on={hours != null}
        change={(on) => (on ? change(22 * 60, 7 * 60) : void set({ hours: null }))}
      />
      {hours ? (
        <>
          <div class="setting">
            <span class="grow times">
              <span class="time">
                {t("quietFrom")}{" "}
                <Time value={hours.start} label="quietFrom" set={(start) => change(start, hours.end)} />
              </span>
              <span class="time">
                {t("quietTo")} <Time value={hours.end} label="quietTo" set={(end) => change(hours.start, end)} />
              </span>
            </span>
          </div>
          <Kinds
            title={t("alwaysBuzzes")}
            of={t("alwaysBuzzes")}
            kinds={KINDS}
            isOn={(kind) => exceptions.includes(kind)}
            change={(kind, on) => void set({ exceptions: without(exceptions, kind, !on) })}
          />
        </>
      ) : null}
    </>
  );
}

function Time({ value, label, set }: { value: number; label: TextKey; set: (minute: number) => void }) {
  const text = `${String(Math.floor(value / 60)).padStart(2, "0")}:${String(value % 60).padStart(2, "0")}`;
  return (
    <input
      type="time"
      class="input"
      aria-label={t(label)}
      value={text}
      onChange={(event) => {
        const [hour = 0, minute = 0] = event.currentTarget.value.split(":").map(Number);
        if (event.currentTarget.value !== "") set(hour * 60 + minute);
      }}
    />
  );
}

function Minutes({ label, value, set }: { label: TextKey; value: number; set: (minutes: number) => void }) {
  const choices = MINUTES.includes(value) ? MINUTES : [...MINUTES, value].sort((one, other) => one - other);
  return (
    <label class="setting">
      <span class="grow">{t(label)}</span>
      <select class="input" value={value} onChange={(event) => set(Number(event.currentTarget.value))}>
        {choices.map((one) => (
          <option key={one} value={one}>
            {t("minutes", { n: one })}
          </option>
        ))}
      </select>
    </label>
  );
}

function SwitchRow({
  text,
  on,
  change,
  disabled = false,
}: {
  text: ComponentChildren;
  on: boolean;
  change: (on: boolean) => void;
  disabled?: boolean;
}) {
  return (
    <label class="setting">
      <span class="grow">{text}</span>
      <input
        type="checkbox"
        role="switch"
        aria-checked={on}
        class="switch"
        checked={on}
        disabled={disabled}
        onChange={(event) => change(event.currentTarget.checked)}
      />
    </label>
  );
}

function without(kinds: readonly AttentionKind[], kind: AttentionKind, on: boolean): AttentionKind[] {
  const rest = kinds.filter((one) => one !== kind);
  return on ? rest : [...rest, kind];
}

function ofWorker(
  workers: Readonly<Record<string, readonly AttentionKind[]>>,
  name: string,
  off: readonly AttentionKind[],
): Record<string, AttentionKind[]> {
  const rest = Object.entries(workers).filter(([worker]) => worker !== name);
  const kept = Object.fromEntries(rest.map(([worker, kinds]) => [worker, [...kinds]]));
  return off.length ? { ...kept, [name]: [...off] } : kept;
}

function timeOf(at: number): string {
  return new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
