/** Has a worker's work judged by others: what of it, by whom, and what they should look at. */

import { useEffect, useState } from "preact/hooks";
import { brandOf, Sign, tint } from "../parts/backend";
import { PlainInput } from "../parts/input";
import { Loading } from "../parts/notice";
import { closeSheet } from "../parts/route";
import { Sheet, SheetAction } from "../parts/sheet";
import { useApp } from "../state/context";
import type { HireChoice, ReviewScope, Worker } from "../state/types";
import { type TextKey, t } from "../texts";

const SCOPES: readonly (readonly [ReviewScope, TextKey])[] = [
  ["tree", "scopeTree"],
  ["turn", "scopeTurn"],
  ["answer", "scopeAnswer"],
  ["commits", "scopeCommits"],
];

// Nobody can tell from here whether these can judge: the one needs a key, the other is a show.
const OWN_AGENTS: ReadonlySet<string> = new Set(["native", "demo"]);

interface Judges {
  readonly backends: readonly string[];
  readonly workers: readonly Worker[];
  /** Who is ticked unasked: another agent sees what the worker's own does not; where there is none, the node chooses. */
  readonly usual: readonly string[];
}

/** Who can judge that worker's work. A worker lends its backend and its model, never its conversation; the judges of
 * other reviews lend nothing, and an agent that cannot be kept from acting judges nobody. */
export function judgesOf(worker: Worker, found: readonly HireChoice[], team: readonly Worker[]): Judges {
  const backends = found.filter((one) => one.installed && one.judges).map((one) => one.backend);
  const unable = new Set(found.filter((one) => !one.judges).map((one) => one.backend));
  const workers = team.filter(
    (one) => one.name !== worker.name && !one.judges && !unable.has(one.backend) && !backends.includes(one.name),
  );
  const other = backends.find((one) => one !== worker.backend && !OWN_AGENTS.has(one));
  return { backends, workers, usual: other ? [other] : [] };
}

export function ReviewSheet({ worker, turn }: { worker: Worker; turn: string }) {
  const { actions, team } = useApp();
  const [found, setFound] = useState<readonly HireChoice[]>();
  const [picked, setPicked] = useState<ReadonlySet<string>>();
  const [scope, setScope] = useState<ReviewScope>(turn ? "turn" : "tree");
  const [base, setBase] = useState("main");
  const [head, setHead] = useState("");
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    // Where nobody knows who is here, the node chooses.
    void actions.hireChoices().then(
      (all) => setFound(all.backends),
      () => setFound([]),
    );
  }, [actions]);
  // Nobody can be ticked before all are known: a list that comes later moves what a finger is about to tap.
  const judges = found && judgesOf(worker, found, team.value ?? []);
  const by = picked ?? new Set(judges?.usual);
  const start = async () => {
    setBusy(true);
    const outcome = await actions.review(worker.name, {
      scope,
      by: [...by],
      note: note.trim(),
      ...(scope === "commits" ? { base: base.trim(), head: head.trim() } : {}),
      ...(scope === "turn" || scope === "answer" ? { turn } : {}),
    });
    setBusy(false);
    setProblem(outcome.ok ? "" : outcome.why);
    if (outcome.ok) closeSheet();
  };
  const pick = (name: string) => {
    const next = new Set(by);
    if (!next.delete(name)) next.add(name);
    setPicked(next);
  };
  return (
    <Sheet
      title={t("reviewOf", { name: worker.name })}
      tint={tint(worker.backend)}
      foot={
        <SheetAction
          label={t("reviewStart")}
          disabled={busy || (scope === "commits" && base.trim() === "" && head.trim() === "")}
          problem={problem}
          onClick={() => void start()}
        />
      }
    >
      <fieldset class="choices">
        <legend class="label small dim">{t("reviewWhat")}</legend>
        {SCOPES.map(([one, text]) => (
          <label class="choice" key={one}>
            <input type="radio" name="scope" checked={scope === one} onChange={() => setScope(one)} />
            <span class="grow">{t(text)}</span>
          </label>
        ))}
      </fieldset>
      {scope === "commits" ? (
        <>
          <PlainInput value={base} label={t("scopeCommits")} onInput={setBase} />
          <label class="field">
            <span class="label">{t("commitsUpTo")}</span>
            <PlainInput value={head} label={t("commitsUpTo")} placeholder="HEAD" onInput={setHead} />
          </label>
        </>
      ) : null}
      <fieldset class="backends">
        <legend class="label small dim">{t("reviewBy")}</legend>
        {judges ? null : <Loading text={t("loading")} rows={2} />}
        {judges?.backends.map((backend) => (
          <label key={backend} class={`backend ${tint(backend)}`}>
            <input type="checkbox" class="unseen" checked={by.has(backend)} onChange={() => pick(backend)} />
            <Sign backend={backend} />
            <span class="grow">
              <b>{brandOf(backend).name}</b>
            </span>
          </label>
        ))}
        {judges?.workers.map(({ name, backend, model }) => (
          <label key={`worker ${name}`} class={`backend ${tint(backend)}`}>
            <input type="checkbox" class="unseen" checked={by.has(name)} onChange={() => pick(name)} />
            <Sign backend={backend} />
            <span class="grow">
              <b>{name}</b>
              <span class="small dim block">{[brandOf(backend).name, model].filter(Boolean).join(" · ")}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <p class="small dim">{t("reviewExplained")}</p>
      <label class="field">
        <span class="label">{t("noteForReviewers")}</span>
        <textarea class="input" rows={2} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
    </Sheet>
  );
}
