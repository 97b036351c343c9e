/** A worker's state in words, with the time that runs. */

import { useApp } from "../state/context";
import type { Worker } from "../state/types";
import { language, t } from "../texts";
import { clockTime, running } from "./times";

export function StateWords({ worker }: { worker: Worker }) {
  const { clock } = useApp();
  switch (worker.state) {
    case "working":
      return (
        <span class="state accent">
          <span class="working-sign" aria-hidden="true" /> {worker.interrupting ? t("stopping") : t("working")}{" "}
          {worker.workingSince === null ? "" : running(clock.value - worker.workingSince)}
        </span>
      );
    case "waiting":
      return <span class="state accent">{t("waitsForYou")}</span>;
    case "limited":
      return (
        <span class="state">
          {worker.resumesAt === null
            ? t("limited")
            : t("limitedUntil", { time: clockTime(worker.resumesAt, clock.value, language.value) })}
        </span>
      );
    case "offline":
      return <span class="state bad">{t("offline")}</span>;
    case "starting":
      return <span class="state">{worker.relaunching ? t("relaunching") : t("starting")}</span>;
    case "leaving":
      return <span class="state">{t("leaving")}</span>;
    case "available":
      return worker.failed ? (
        <span class="state bad">{t("lastTurnFailed")}</span>
      ) : (
        <span class="state">{t("idle")}</span>
      );
  }
}
