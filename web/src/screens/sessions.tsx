/** Conversations of the agents that can be taken up again, on this machine's desk or of a worker who left. */

import { useEffect, useState } from "preact/hooks";
import { brandOf, Sign, tint } from "../parts/backend";
import { Loading, Notice } from "../parts/notice";
import { address, go } from "../parts/route";
import { ago } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { SessionFound } from "../state/types";
import { t } from "../texts";
import { freeName } from "./hire-sheet";

export function SessionsScreen() {
  const { actions } = useApp();
  const [found, setFound] = useState<readonly SessionFound[]>();
  const [failed, setFailed] = useState(false);
  const [problem, setProblem] = useState("");
  const load = () => {
    setFailed(false);
    actions.sessions().then(setFound, () => setFailed(true));
  };
  useEffect(load, []);
  return (
    <>
      <header class="top plain">
        <h1 class="grow">{t("sessions")}</h1>
      </header>
      <div class="body">
        <p class="small dim">{t("sessionsExplained")}</p>
        {problem ? (
          <p class="bad small" role="alert">
            <Shown text={problem} />
          </p>
        ) : null}
        {failed ? (
          <Notice icon="warn" text={t("couldNotLoad")}>
            <button type="button" class="button" onClick={load}>
              {t("tryAgain")}
            </button>
          </Notice>
        ) : found === undefined ? (
          <Loading text={t("loading")} />
        ) : found.length === 0 ? (
          <Notice icon="clock" text={t("noSessions")} />
        ) : (
          <ul class="workers">
            {found.map((session) => (
              <Session key={`${session.backend}-${session.id}`} session={session} onProblem={setProblem} />
            ))}
          </ul>
        )}
      </div>
    </>
  );
}

function Session({ session, onProblem }: { session: SessionFound; onProblem: (why: string) => void }) {
  const { actions, clock, team } = useApp();
  const [busy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    const name = freeName((team.value ?? []).map((worker) => worker.name));
    const outcome = await actions.hire({ name, backend: session.backend, session: session.id });
    setBusy(false);
    if (outcome.ok) go({ worker: name });
    else onProblem(outcome.why);
  };
  return (
    <li class={`worker ${tint(session.backend)}`}>
      <Sign backend={session.backend} />
      <span class="grow">
        <span class="worker-first">
          <b class="one grow">
            <Shown text={session.title || session.id} />
          </b>
          <span class="small faint">{ago(session.at, clock.value)}</span>
        </span>
        <span class="small dim one session-where">
          {brandOf(session.backend).name} · <Shown text={session.directory} strict />
          {session.open ? ` · ${t("openAtDesk")}` : ""}
        </span>
      </span>
      {session.worker ? (
        <a class="button" href={address({ worker: session.worker })}>
          {session.worker}
        </a>
      ) : (
        <button type="button" class="button" disabled={busy} onClick={() => void resume()}>
          {t("resume")}
        </button>
      )}
    </li>
  );
}
