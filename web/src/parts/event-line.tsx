/** What happened beside the turns, as a quiet line in the conversation. */

import { useApp } from "../state/context";
import type { EventRow } from "../state/types";
import { begun, language, t, told } from "../texts";
import { headline } from "./ask-words";
import { Attachments } from "./attachments";
import { brandOf } from "./backend";
import { Markdown } from "./markdown/markdown";
import { MODE_TEXTS } from "./modes";
import { clockTime } from "./times";
import { Shown } from "./visible";

export function EventLine({ row, worker }: { row: EventRow; worker: string }) {
  const { what } = row;
  switch (what.type) {
    case "said":
      return <Markdown text={what.text} />;
    case "responded":
      return what.html ? (
        <p class="as-written">
          <Shown text={plain(what.text)} />
        </p>
      ) : (
        <Markdown text={what.text} />
      );
    case "showed":
      return <Attachments files={[what.file]} worker={worker} />;
    default:
      return <Quiet row={row} worker={worker} />;
  }
}

function Quiet({ row, worker }: { row: EventRow; worker: string }) {
  const { clock } = useApp();
  const bad = row.what.type === "offline" && !row.what.asked;
  return (
    <p class={bad ? "event small bad" : "event small dim"}>
      <span class="grow">
        <Shown text={sentence(row.what, worker, clock.peek())} />
      </span>
      <time class="faint tiny">{clockTime(row.at, clock.peek(), language.value)}</time>
    </p>
  );
}

const SPRINT_ENDS = {
  done: "eventSprintDone",
  halted: "eventSprintHalted",
  limit: "eventSprintLimit",
  stuck: "eventSprintStuck",
} as const;

function sentence(what: EventRow["what"], name: string, now: number): string {
  switch (what.type) {
    case "hired":
      return [t("eventHired", { name, backend: brandOf(what.backend).name, folder: what.directory }), what.note]
        .filter(Boolean)
        .join(" ");
    case "ended":
      return what.resume ? `${t("eventEnded", { name })} ${what.resume}` : t("eventEnded", { name });
    case "online":
      return what.back ? t("eventBack", { name }) : t("eventOnline", { name });
    case "offline":
      return what.asked
        ? t("eventAskedOffline", { name })
        : t("eventOffline", { name, why: begun(told(what.why, what.whyPhrase)) });
    case "tuned":
      return (
        what.refused ||
        t("eventTuned", {
          what: [what.model, what.mode ? t(MODE_TEXTS[what.mode]) : "", what.effort && `${t("effort")} ${what.effort}`]
            .filter(Boolean)
            .join(" · "),
        })
      );
    case "limited":
      return what.until === null
        ? what.text
        : `${what.text} ${t("limitedUntil", { time: clockTime(what.until, now, language.value) })}`;
    case "limit-lifted":
      return t("eventLimitLifted");
    case "noted":
      return what.text;
    case "sprint-began":
      return what.tasks ? t("eventSprintBegan", { n: what.tasks }) : t("eventSprintPlan");
    case "sprint-ended":
      return [t(SPRINT_ENDS[what.how], { done: what.done, n: what.tasks }), what.why].filter(Boolean).join(" ");
    case "asked":
      return headline(what.ask);
    default:
      return "";
  }
}

/** What a worker's own program posted as HTML, as text: it is read, never shown as markup. */
function plain(html: string): string {
  return new DOMParser().parseFromString(html, "text/html").body.textContent ?? "";
}
