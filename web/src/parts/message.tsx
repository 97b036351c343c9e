/** What a person said, with how far it got, and what can be done when it got nowhere. */

import { useState } from "preact/hooks";
import { useApp, useMayWrite } from "../state/context";
import type { MessageRow, Receipt } from "../state/types";
import { language, type TextKey, t } from "../texts";
import { Attachments, Pictures } from "./attachments";
import { Fold } from "./fold";
import { Icon } from "./icon";
import { clockTime } from "./times";
import { Shown } from "./visible";

const WORDS: Readonly<Record<Receipt, TextKey>> = {
  "on-phone": "receiptOnPhone",
  accepted: "receiptAccepted",
  queued: "receiptQueued",
  started: "receiptStarted",
  "handed-over": "receiptHandedOver",
  seen: "receiptSeen",
  answered: "receiptAnswered",
  refused: "receiptRefused",
  withdrawn: "receiptWithdrawn",
  unknown: "receiptUnknown",
};

const MOST_OF_MINE = 2400;
const MOST_OF_OTHERS = 200;

// By this way the node tells an agent who it is and how it finds the others.
const INTRODUCTION = "files";

export function Message({ row, worker }: { row: MessageRow; worker: string }) {
  if (row.via === INTRODUCTION) return <Introduction row={row} worker={worker} />;
  return <Written row={row} worker={worker} />;
}

/** What the node itself told the agent: nobody wrote it, so it is one line. */
function Introduction({ row, worker }: { row: MessageRow; worker: string }) {
  return (
    <Fold line={<span class="small dim">{t("introduced", { name: worker })}</span>}>
      {() => (
        <p class="small">
          <Shown text={row.text} />
        </p>
      )}
    </Fold>
  );
}

function Written({ row, worker }: { row: MessageRow; worker: string }) {
  const { clock } = useApp();
  const trouble = row.receipt === "refused" || row.receipt === "unknown";
  const name = row.via === "desk" ? t("atTheDesk") : row.who;
  const who = row.mine || !name ? "" : `${name} · `;
  return (
    <article
      class={row.mine ? "message mine" : "message"}
      aria-label={t("messageOf", { name: row.mine ? t("you") : name })}
    >
      <div class={row.receipt === "withdrawn" ? "bubble gone" : "bubble"}>
        <Pictures pictures={row.pictures} />
        <Attachments files={row.attachments} worker={worker} />
        <MessageText text={row.text} mine={row.mine} />
      </div>
      <p class={trouble ? "receipt bad" : "receipt"}>
        {who}
        {t(WORDS[row.receipt])} <Ticks receipt={row.receipt} /> {clockTime(row.at, clock.peek(), language.value)}
      </p>
      {row.why ? (
        <p class="receipt">
          <Shown text={row.why} />
        </p>
      ) : null}
      {trouble || row.receipt === "on-phone" ? <Remedies row={row} /> : null}
    </article>
  );
}

/** A long text of somebody else is shown by its beginning. */
function MessageText({ text, mine }: { text: string; mine: boolean }) {
  const most = mine ? MOST_OF_MINE : MOST_OF_OTHERS;
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= most * 1.5) return <Shown text={text} />;
  return (
    <>
      <Shown text={`${text.slice(0, most).trimEnd()}… `} />
      <button type="button" class="text-button" onClick={() => setWhole(true)}>
        {t("showAll")}
      </button>
    </>
  );
}

function Ticks({ receipt }: { receipt: Receipt }) {
  const count =
    { "on-phone": 0, accepted: 1, queued: 1, started: 1, "handed-over": 1, seen: 2, answered: 2 }[receipt as string] ??
    0;
  return (
    <span class={receipt === "answered" ? "ticks ok" : "ticks"} aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <Icon key={index} name="check" size={12} />
      ))}
    </span>
  );
}

function Remedies({ row }: { row: MessageRow }) {
  const { actions } = useApp();
  if (!useMayWrite()) return null;
  return (
    <p class="remedies">
      {row.receipt === "on-phone" ? null : (
        <button type="button" class="text-button" onClick={() => actions.retry(row.key)}>
          {t("sendAgain")}
        </button>
      )}
      <button type="button" class="text-button quiet" onClick={() => actions.drop(row.key)}>
        {row.receipt === "unknown" ? t("leaveIt") : t("drop")}
      </button>
    </p>
  );
}
