/** An ask, whole: what would run, where, at what risk, every choice with its exact scope, and a refusal with words. */

import { useState } from "preact/hooks";
import { headline, labelOf, questionOf, risksOf, scopeOf, sides, wants, whole } from "../parts/ask-words";
import { tint } from "../parts/backend";
import { CopyButton } from "../parts/copy-button";
import { DiffLines } from "../parts/diff/diff-lines";
import { wholeDiff } from "../parts/diff/parse";
import { Icon } from "../parts/icon";
import { Markdown } from "../parts/markdown/markdown";
import { Notice } from "../parts/notice";
import { closeSheet, openSheet } from "../parts/route";
import { Sheet } from "../parts/sheet";
import { useSteady } from "../parts/steady";
import { running } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { Choice, OpenAsk } from "../state/types";
import { t } from "../texts";

export function AskSheet({ id }: { id: string }) {
  const { asks, team } = useApp();
  const ask = asks.value.find((one) => one.id === id);
  if (!ask) {
    return (
      <Sheet title={t("settled")}>
        <Notice icon="check" text={t("settledElsewhere")} inline />
      </Sheet>
    );
  }
  const backend = team.value?.find((one) => one.name === ask.worker)?.backend ?? "";
  return <OpenAskSheet key={ask.id} ask={ask} tinted={tint(backend)} />;
}

function OpenAskSheet({ ask, tinted }: { ask: OpenAsk; tinted: string }) {
  const { asks, actions, device } = useApp();
  const { allowing, denying } = sides(ask.choices);
  const [made, setMade] = useState<readonly string[]>(() => firstMade(ask));
  const [words, setWords] = useState("");
  const steady = useSteady(ask.id, ask.digest);
  const others = asks.value.filter((one) => one.worker === ask.worker);
  const answer = (choices: readonly string[]) => {
    if (!steady()) return;
    actions.answer(ask.id, choices, words.trim() || undefined);
    // A questionnaire goes on with its next part.
    const next = others.find((one) => one.id !== ask.id);
    if (next) openSheet("ask", next.id);
    else closeSheet();
  };
  const needsWords = made.some((one) => ask.choices.find((choice) => choice.id === one)?.words);
  const ready = made.length > 0 && (!needsWords || words.trim() !== "");
  const mayWrite = !device.value?.readOnly;
  const foot = !mayWrite ? (
    <p class="small dim">{t("readOnlyDevice")}</p>
  ) : ask.answering ? (
    <p class="small dim">{t("answering")}</p>
  ) : (
    <div class="buttons">
      {denying.map((choice) => (
        <button type="button" key={choice.id} class="button danger" onClick={() => answer([choice.id])}>
          {denying.length === 1 && ask.about === "permission" ? t("deny") : labelOf(choice)}
        </button>
      ))}
      {allowing.length ? (
        <button type="button" class="button primary" disabled={!ready} onClick={() => answer(made)}>
          {ask.about === "permission" || ask.about === "folder"
            ? t("allow")
            : ask.about === "plan"
              ? t("goAhead")
              : t("sendAnswer")}
        </button>
      ) : null}
    </div>
  );
  return (
    <Sheet tint={tinted} foot={foot} title={<Title ask={ask} part={others.indexOf(ask) + 1} parts={others.length} />}>
      <What ask={ask} />
      <Circumstances ask={ask} />
      {allowing.length > 1 || ask.about === "choice" || allowing.some((choice) => choice.scope) ? (
        <Choices ask={ask} choices={allowing} made={mayWrite ? made : []} onMake={mayWrite ? setMade : undefined} />
      ) : null}
      {mayWrite && (denying.length || needsWords) ? (
        <textarea
          class="input words"
          rows={2}
          value={words}
          aria-label={needsWords ? t("yourWords") : t("sayWhy")}
          placeholder={needsWords ? t("yourWords") : t("sayWhy")}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      ) : null}
    </Sheet>
  );
}

/** What is chosen when the sheet opens: only ever the narrowest leave, and nothing in a questionnaire. */
export function firstMade(ask: Pick<OpenAsk, "about" | "choices">): readonly string[] {
  if (ask.about === "choice") return [];
  const plain = sides(ask.choices).allowing.find((choice) => !choice.scope && !choice.words);
  return plain ? [plain.id] : [];
}

function Title({ ask, part, parts }: { ask: OpenAsk; part: number; parts: number }) {
  return (
    <>
      <span class="name">{ask.worker}</span> {wants(ask)}
      {parts > 1 ? <span class="chip part">{t("partOf", { n: part, all: parts })}</span> : null}
    </>
  );
}

function What({ ask }: { ask: OpenAsk }) {
  if (ask.about === "plan") {
    return (
      <>
        <p class="ask-question">
          <Shown text={questionOf(ask)} />
        </p>
        {ask.detail ? (
          <div class="plan">
            <Markdown text={ask.detail} />
          </div>
        ) : null}
      </>
    );
  }
  if (ask.about !== "permission") {
    return (
      <>
        <p class="ask-question">
          <Shown text={questionOf(ask)} />
        </p>
        {ask.detail ? (
          <pre class="command">
            <Shown text={ask.detail} strict />
          </pre>
        ) : null}
      </>
    );
  }
  const text = whole(ask);
  // A shell reads a diff's lines as commands; nobody should read such a command as a diff.
  const diff = ask.action?.kind === "run" ? [] : wholeDiff(text);
  return (
    <>
      {diff.length || !text.includes(headline(ask)) ? (
        <p class="ask-question">
          <Shown text={headline(ask)} strict />
        </p>
      ) : null}
      {diff.length ? (
        diff.map((file) => <DiffLines key={file.path} file={file} wrapped whole />)
      ) : (
        <div class="command-box">
          <pre class="command big">
            <Shown text={text} strict />
          </pre>
          <CopyButton text={text} />
        </div>
      )}
    </>
  );
}

function Circumstances({ ask }: { ask: OpenAsk }) {
  const { clock } = useApp();
  return (
    <dl class="circumstances small">
      {ask.where ? (
        <>
          <dt>{t("where")}</dt>
          <dd>
            <Shown text={ask.where} strict />
          </dd>
        </>
      ) : null}
      {ask.risks.length ? (
        <>
          <dt>{t("risk")}</dt>
          <dd>
            {risksOf(ask).map(({ text, mild }) => (
              <span key={text} class={mild ? "one-risk" : "one-risk risk"}>
                {mild ? null : <Icon name="warn" size={12} />} <Shown text={text} />
              </span>
            ))}
          </dd>
        </>
      ) : null}
      {ask.why ? (
        <>
          <dt>{t("why")}</dt>
          <dd>
            “<Shown text={ask.why} />”
          </dd>
        </>
      ) : null}
      {ask.deadline === null ? null : (
        <>
          <dt>{t("deadline")}</dt>
          <dd>{running(ask.deadline - clock.value)}</dd>
        </>
      )}
    </dl>
  );
}

interface ChoicesProps {
  readonly ask: OpenAsk;
  readonly choices: readonly Choice[];
  readonly made: readonly string[];
  /** None where this device may only look. */
  readonly onMake: ((made: readonly string[]) => void) | undefined;
}

function Choices({ ask, choices, made, onMake }: ChoicesProps) {
  const pick = (id: string) => {
    if (!ask.several) onMake?.([id]);
    else onMake?.(made.includes(id) ? made.filter((one) => one !== id) : [...made, id]);
  };
  return (
    <fieldset class="choices">
      <legend class="unseen">{questionOf(ask)}</legend>
      {ask.several && onMake ? <p class="small dim">{t("severalPossible")}</p> : null}
      {choices.map((choice) =>
        onMake ? (
          <label class="choice" key={choice.id}>
            <input
              type={ask.several ? "checkbox" : "radio"}
              name={`ask-${ask.id}`}
              checked={made.includes(choice.id)}
              onChange={() => pick(choice.id)}
            />
            <ChoiceWords choice={choice} ask={ask} />
          </label>
        ) : (
          <div class="choice still" key={choice.id}>
            <ChoiceWords choice={choice} ask={ask} />
          </div>
        ),
      )}
    </fieldset>
  );
}

function ChoiceWords({ choice, ask }: { choice: Choice; ask: OpenAsk }) {
  const scope = scopeOf(choice, ask);
  return (
    <span class="grow">
      <b>
        <Shown text={labelOf(choice)} />
      </b>
      {scope ? (
        <span class="scope small dim">
          {/* The node has told what deceives in the values of its phrases; the app's own sentence around them is honest. */}
          <Shown text={scope} strict={!choice.scope_phrase} />
        </span>
      ) : null}
    </span>
  );
}
