/** What was said in a conversation at the desk, to be read before anybody takes it up. */

import { useEffect, useState } from "preact/hooks";
import { EventLine } from "../parts/event-line";
import { Message } from "../parts/message";
import { Loading, Notice } from "../parts/notice";
import { Sheet } from "../parts/sheet";
import { Turn } from "../parts/turn";
import { useApp } from "../state/context";
import type { Row, SessionPast } from "../state/types";
import { t } from "../texts";

export function SessionSheet({ about }: { about: string }) {
  const { actions } = useApp();
  const place = about.indexOf("/");
  const [backend, session] = [about.slice(0, place), about.slice(place + 1)];
  const [past, setPast] = useState<SessionPast>();
  const [problem, setProblem] = useState("");
  const load = (before?: number) => {
    setProblem("");
    actions.sessionPast(backend, session, before).then(
      (page) =>
        setPast((known) => (before === undefined || !known ? page : { ...page, rows: [...page.rows, ...known.rows] })),
      (error) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  useEffect(() => load(), [about]);
  return (
    <Sheet title={t("whatWasSaid")}>
      {problem ? (
        <Notice icon="warn" text={problem}>
          <button type="button" class="button" onClick={() => load(past?.first)}>
            {t("tryAgain")}
          </button>
        </Notice>
      ) : null}
      {past === undefined ? (
        problem ? null : (
          <Loading text={t("loading")} />
        )
      ) : (
        <>
          {past.more ? (
            <button type="button" class="button" onClick={() => load(past.first)}>
              {t("showOlder")}
            </button>
          ) : null}
          {past.rows.length === 0 ? <Notice icon="clock" text={t("nothingSaid")} /> : null}
          {past.rows.map((row) => (
            <div class="row" key={row.key}>
              <PastRow row={row} name={backend} />
            </div>
          ))}
        </>
      )}
    </Sheet>
  );
}

function PastRow({ row, name }: { row: Row; name: string }) {
  if (row.kind === "message") return <Message row={row} worker="" />;
  return row.kind === "turn" ? <Turn row={row} worker={name} /> : <EventLine row={row} worker={name} />;
}
