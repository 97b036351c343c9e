/** The messages that wait for their turn: one line above the composer; a sheet to reword, reorder, send now or drop them. */

import { useState } from "preact/hooks";
import { useApp, useMayWrite } from "../state/context";
import type { QueuedMessage, Worker } from "../state/types";
import { t } from "../texts";
import { Icon } from "./icon";
import { openSheet } from "./route";
import { Sheet } from "./sheet";
import { Shown } from "./visible";

export function QueueLine({ worker }: { worker: Worker }) {
  const [first] = worker.queue;
  if (!first) return null;
  return (
    <button type="button" class="queue-line" onClick={() => openSheet("queue", worker.name)}>
      <span class="chip accent">{t("queued", { n: worker.queue.length })}</span>
      <span class="one grow small dim">
        <Shown text={first.text} />
      </span>
      <Icon name="up" />
    </button>
  );
}

export function QueueSheet({ worker }: { worker: Worker }) {
  return (
    <Sheet title={t("queueOf", { name: worker.name })}>
      <p class="small dim">{worker.queue.length ? t("queueExplained", { name: worker.name }) : t("queueEmpty")}</p>
      <ol class="queue">
        {worker.queue.map((message, place) => (
          <Waiting key={message.id} message={message} place={place} worker={worker} />
        ))}
      </ol>
    </Sheet>
  );
}

function Waiting({ message, place, worker }: { message: QueuedMessage; place: number; worker: Worker }) {
  const { actions } = useApp();
  const mayWrite = useMayWrite();
  const [editing, setEditing] = useState<string>();
  const move = (by: number) => {
    const ids = worker.queue.map((one) => one.id);
    ids.splice(place, 1);
    ids.splice(place + by, 0, message.id);
    void actions.reorder(worker.name, ids);
  };
  if (editing !== undefined) {
    return (
      <li class="queued">
        <textarea
          class="input"
          rows={3}
          value={editing}
          aria-label={t("reword")}
          onInput={(event) => setEditing(event.currentTarget.value)}
        />
        <div class="buttons">
          <button type="button" class="button" onClick={() => setEditing(undefined)}>
            {t("cancel")}
          </button>
          <button
            type="button"
            class="button primary"
            disabled={editing.trim() === ""}
            onClick={() => {
              actions.edit(message.id, editing);
              setEditing(undefined);
            }}
          >
            {t("save")}
          </button>
        </div>
      </li>
    );
  }
  return (
    <li class="queued">
      <p>
        <span class="faint">{place + 1} </span>
        <Shown text={message.text} />
      </p>
      {message.now ? <p class="small accent">{t("goesInNow")}</p> : null}
      {mayWrite ? (
        <div class="queued-tools">
          <Tool icon="pencil" label={t("reword")} onClick={() => setEditing(message.text)} />
          <Tool icon="up" label={t("earlier")} onClick={() => move(-1)} disabled={place === 0} />
          <Tool icon="down" label={t("later")} onClick={() => move(1)} disabled={place === worker.queue.length - 1} />
          <Tool icon="bolt" label={t("sendNow")} onClick={() => actions.sendNow(message.id)} disabled={message.now} />
          <Tool icon="trash" label={t("drop")} onClick={() => actions.drop(message.id)} />
        </div>
      ) : null}
    </li>
  );
}

interface ToolProps {
  readonly icon: "pencil" | "up" | "down" | "bolt" | "trash";
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
}

function Tool({ icon, label, onClick, disabled = false }: ToolProps) {
  return (
    <button type="button" class="labelled-tool" onClick={onClick} disabled={disabled}>
      <Icon name={icon} />
      <span class="tiny">{label}</span>
    </button>
  );
}
