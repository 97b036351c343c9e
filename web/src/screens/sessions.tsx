/** Conversations of the agents that can be taken up again, on this machine's desk or of a worker who left. */

import { useEffect, useState } from "preact/hooks";
import { brandOf, Sign, tint } from "../parts/backend";
import { Loading, Notice, Problem } from "../parts/notice";
import { address, go, openSheet } from "../parts/route";
import { ago } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp, useMayWrite } from "../state/context";
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
        <Problem text={problem} />
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
  const mayWrite = useMayWrite();
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const resume = async () => {
    // Two must not speak in one conversation: what is open at the desk is taken over knowingly.
    if (session.open && !sure) {
      setSure(true);
      return;
    }
    setBusy(true);
    const name = freeName((team.value ?? []).map((worker) => worker.name));
    const anyway = session.open ? { anyway: true } : {};
    const outcome = await actions.hire({ name, backend: session.backend, session: session.id, ...anyway });
    setBusy(false);
    if (outcome.ok) go({ worker: name });
    else onProblem(outcome.why);
  };
  return (
    <li class={`worker ${tint(session.backend)}`}>
      <Sign backend={session.backend} />
      <span class="grow">
        <button
          type="button"
          class="plain-button session-words"
          onClick={() => openSheet("session", `${session.backend}/${session.id}`)}
        >
          <span class="unseen">{t("whatWasSaid")}: </span>
          <b class="session-title">
            <Shown text={session.title || session.id} />
          </b>
          <span class="small dim session-where">
            {brandOf(session.backend).name} · {ago(session.at, clock.value)} · <Shown text={session.directory} strict />
          </span>
          {session.open ? <span class="small accent session-where">{t("openAtDesk")}</span> : null}
        </button>
      </span>
      {session.worker ? (
        <a class="button" href={address({ worker: session.worker })}>
          {t("openWorker", { name: session.worker })}
        </a>
      ) : mayWrite ? (
        <button type="button" class="button" disabled={busy} onClick={() => void resume()}>
          {sure ? t("takeOver") : t("resume")}
        </button>
      ) : null}
    </li>
  );
}
