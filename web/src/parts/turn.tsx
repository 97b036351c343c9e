/** A turn in the conversation: what was thought and done, folded, then what was said. */

import { useEffect, useState } from "preact/hooks";
import { useApp, useMayWrite } from "../state/context";
import type { AskedInTurn, ToolCall, TurnRow } from "../state/types";
import { begun, t, told } from "../texts";
import { headline, labelOf } from "./ask-words";
import { Attachments } from "./attachments";
import { CopyButton } from "./copy-button";
import { Counts } from "./diff/counts";
import { DiffLines } from "./diff/diff-lines";
import { wholeDiff } from "./diff/parse";
import { Fold } from "./fold";
import { Icon } from "./icon";
import { Markdown } from "./markdown/markdown";
import { address, openSheet } from "./route";
import { Same } from "./same";
import { dollars, running, tokens } from "./times";
import { Shown } from "./visible";

export function Turn({ row, worker }: { row: TurnRow; worker: string }) {
  return (
    <article class="turn" aria-label={t("answerOf", { name: worker })} aria-busy={row.live}>
      {row.thought ? <Thought text={row.thought} live={row.live && !row.text && row.tools.length === 0} /> : null}
      {row.tools.map((tool) => (
        <Same key={tool.call} of={tool} and={row.live} show={(one) => <Tool tool={one} live={row.live} />} />
      ))}
      {row.asks.map((ask) => (ask.settled || ask.problem ? <Settled key={ask.id} ask={ask} /> : null))}
      {row.text ? <Words text={row.text} live={row.live} /> : null}
      {row.live && !row.text && row.asks.every((ask) => ask.settled) ? <Waiting /> : null}
      <Attachments files={row.files} worker={worker} />
      {row.notes.map((note, index) => (
        <p class="note small dim" key={index}>
          <Shown text={note} />
        </p>
      ))}
      <End row={row} worker={worker} />
    </article>
  );
}

/** An answer; while it streams it is painted once a frame, however many pieces came. */
function Words({ text, live }: { text: string; live: boolean }) {
  const [shown, setShown] = useState(text);
  useEffect(() => {
    if (!live || document.hidden) {
      setShown(text);
      return undefined;
    }
    const frame = requestAnimationFrame(() => setShown(text));
    return () => cancelAnimationFrame(frame);
  }, [text, live]);
  return <Markdown text={live ? shown : text} streaming={live} />;
}

function Waiting() {
  return (
    <p class="dim" role="status">
      <span class="working-sign" aria-hidden="true" /> <span class="unseen">{t("working")}</span>
    </p>
  );
}

function Thought({ text, live }: { text: string; live: boolean }) {
  const first = text.trim().split("\n", 1)[0] ?? "";
  return (
    <Fold
      line={
        <>
          {live ? t("thinking") : t("thought")}: <Shown text={first.replace(/[*_#`]/g, "")} />
        </>
      }
    >
      {() => <Markdown text={text} />}
    </Fold>
  );
}

function Tool({ tool, live }: { tool: ToolCall; live: boolean }) {
  const diff = wholeDiff(tool.detail);
  const added = diff.reduce((sum, file) => sum + file.added, 0);
  const removed = diff.reduce((sum, file) => sum + file.removed, 0);
  const title = tool.title.startsWith(tool.tool) ? tool.title : `${tool.tool} ${tool.title}`;
  return (
    <Fold
      line={
        <>
          <Shown text={title.split("\n", 1)[0] ?? ""} strict />
          <Counts added={added} removed={removed} before=" " />
        </>
      }
      result={<ToolResult tool={tool} live={live} />}
    >
      {() => (
        <>
          {diff.length ? (
            diff.map((file) => <DiffLines file={file} wrapped={false} />)
          ) : tool.detail && tool.detail !== tool.title ? (
            <pre class="command">
              <Shown text={tool.detail} strict />
            </pre>
          ) : null}
          {tool.output ? (
            <pre class="command output">
              <Shown text={tool.output} strict />
            </pre>
          ) : null}
          {!tool.output && !tool.detail ? <p class="small dim">{t("noOutput")}</p> : null}
        </>
      )}
    </Fold>
  );
}

function ToolResult({ tool, live }: { tool: ToolCall; live: boolean }) {
  const { clock } = useApp();
  if (tool.ok === true)
    return (
      <span class="ok fold-result">
        <Icon name="check" size={12} label={t("worked")} />
      </span>
    );
  if (tool.ok === false)
    return (
      <span class="bad fold-result">
        <Icon name="cross" size={12} label={t("failed")} />
      </span>
    );
  if (!live) return null;
  return (
    <span class="accent fold-result">
      <span class="working-sign" aria-hidden="true" /> {running(clock.value - tool.startedAt)}
    </span>
  );
}

function Settled({ ask }: { ask: AskedInTurn }) {
  const made = ask.settled?.choice.split(",").map((id) => ask.choices.find((choice) => choice.id === id)) ?? [];
  const label = made.map((choice) => (choice ? labelOf(choice) : "")).join(", ");
  const denied = made.some((choice) => choice?.allows === false);
  const how = ask.settled?.how === "expired" ? t("expired") : ask.settled?.how === "desk" ? t("settledAtDesk") : label;
  return (
    <div class="fold settled">
      <span class={denied ? "bad fold-sign" : "ok fold-sign"}>
        <Icon name={denied ? "cross" : "check"} size={12} />
      </span>
      <span class="grow">
        {how}: <Shown text={headline(ask)} strict />
        {ask.settled?.note ? <span class="dim"> — “{ask.settled.note}”</span> : null}
        {ask.problem ? <span class="bad"> — {ask.problem}</span> : null}
      </span>
    </div>
  );
}

function End({ row, worker }: { row: TurnRow; worker: string }) {
  if (row.live) return null;
  const seconds = row.endedAt === null ? 0 : row.endedAt - row.startedAt;
  const used = (row.usage?.input_tokens ?? 0) + (row.usage?.output_tokens ?? 0);
  const parts = [
    seconds >= 1 ? running(seconds) : "",
    used ? `${tokens(used)} tok` : "",
    dollars(row.usage?.cost_dollars),
  ];
  const words = parts.filter(Boolean).join(" · ");
  const look = <LookAtChanges worker={worker} turn={row.turn} />;
  if (row.how === "completed" || row.how === null) {
    return (
      <p class="turn-end tiny faint">
        {words}
        {row.text ? <CopyButton text={row.text} label={t("copyAnswer")} /> : null}
        {look}
      </p>
    );
  }
  const ending = {
    failed: t("turnFailed"),
    interrupted: t("turnInterrupted"),
    lost: t("turnLost"),
    parked: t("turnParked"),
  };
  return (
    <p class={row.how === "failed" || row.how === "lost" ? "turn-end small bad" : "turn-end small dim"}>
      {ending[row.how]}
      {row.error ? (
        <>
          {" "}
          <Shown text={row.error} />
        </>
      ) : null}
      {row.advice ? (
        <>
          {" "}
          <Shown text={begun(told(row.advice, row.advicePhrase))} />
        </>
      ) : null}
      <TryAgain worker={worker} turn={row.turn} />
      {look}
    </p>
  );
}

/** Says the message of a failed turn again: once, for then it is no longer offered. */
function TryAgain({ worker, turn }: { worker: string; turn: string }) {
  const { actions, device, team } = useApp();
  if (device.value?.readOnly || !team.value?.find((one) => one.name === worker)?.triable.includes(turn)) return null;
  return (
    <button type="button" class="text-button small" onClick={() => void actions.tryAgain(worker, turn)}>
      {t("tryAgain")}
    </button>
  );
}

/** Whatever a turn did and however it ended, it may have changed files: by a shell as well, and before it failed. */
function LookAtChanges({ worker, turn }: { worker: string; turn: string }) {
  const { team } = useApp();
  const mayWrite = useMayWrite();
  if (!team.peek()?.find((one) => one.name === worker)?.directory) return null;
  return (
    <>
      <a class="text-button small" href={address({ worker, side: "files", about: turn })}>
        {t("changes")}
      </a>
      {mayWrite ? (
        <button type="button" class="text-button small" onClick={() => openSheet("review", `${worker} ${turn}`)}>
          {t("review")}
        </button>
      ) : null}
    </>
  );
}
