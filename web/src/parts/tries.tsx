/** What somebody new may say to a worker that has heard nothing yet: one tap says it. */

import { useApp, useMayWrite } from "../state/context";
import type { Worker } from "../state/types";
import { t } from "../texts";
import { brandOf } from "./backend";

export function Tries({ worker }: { worker: Worker }) {
  const app = useApp();
  const mayWrite = useMayWrite();
  const { tries } = brandOf(worker.backend);
  if (!tries || !mayWrite) return null;
  const { rows, status } = app.conversation(worker.name);
  if (status.value !== "ready" || rows.value.some((row) => row.kind !== "event")) return null;
  return (
    <div class="tries">
      <span class="small dim">{t("tryWords")}</span>
      {tries.map((words) => (
        <button
          type="button"
          class="chip pick"
          key={words}
          onClick={() => void app.actions.say(worker.name, words, { pictures: [] })}
        >
          {words}
        </button>
      ))}
    </div>
  );
}
