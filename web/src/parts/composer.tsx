/** Where one writes: on touch Enter is a newline, Ctrl+Enter always sends; the draft is the state's, and kept. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useApp } from "../state/context";
import type { Picture, Worker } from "../state/types";
import { joined } from "../state/voice";
import { t } from "../texts";
import { Pictures } from "./attachments";
import { Icon } from "./icon";
import { RecordingBar, useVoiceNote, VoiceButton, VoiceNotesLine } from "./voice-note";

/** Whether this key press sends, on this kind of device. Pure. */
export function sends(
  key: { key: string; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; isComposing: boolean },
  touch: boolean,
  enterSends: boolean,
): boolean {
  if (key.key !== "Enter" || key.isComposing) return false;
  if (key.ctrlKey || key.metaKey) return true;
  return !touch && enterSends && !key.shiftKey;
}

export function isTouch(): boolean {
  return typeof matchMedia !== "undefined" && matchMedia("(pointer: coarse)").matches;
}

export function Composer({ worker }: { worker: Worker }) {
  const app = useApp();
  const { actions, settings, device } = app;
  const { draft } = app.conversation(worker.name);
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, pictures } = draft.value;
  const empty = text.trim() === "" && pictures.length === 0;
  useLayoutEffect(() => resize(field.current), [text]);

  // Whose draft was sent while a file was still being made ready: it goes when that is, unless one changes it or goes
  // elsewhere. A voice note may send the draft of a worker whom one has left.
  const due = useRef("");
  useEffect(() => {
    due.current = "";
  }, [worker.name]);
  const send = () => {
    // What was just put into the draft counts, whether it is drawn yet or not.
    const { text, pictures } = draft.peek();
    due.current = pictures.some((picture) => picture.progress < 1) ? worker.name : "";
    if (due.current || (text.trim() === "" && pictures.length === 0)) return;
    actions.say(worker.name, text, { pictures });
    draft.value = { text: "", pictures: [] };
    field.current?.focus();
  };
  useEffect(() => {
    if (due.current === worker.name) send();
  }, [pictures]);
  const write = (next: string) => {
    due.current = "";
    draft.value = { ...draft.value, text: next };
  };
  const remove = (picture: string) => {
    due.current = "";
    actions.detach(worker.name, picture);
  };
  const attach = (files: FileList | null | undefined) => {
    if (files?.length) void actions.attach(worker.name, [...files]);
  };
  const voice = useVoiceNote(
    worker.name,
    (heard) => write(joined(draft.peek().text, heard)),
    () => send(),
  );

  if (device.value?.readOnly) return <p class="foot small dim">{t("readOnlyDevice")}</p>;
  return (
    <form
      class="composer foot"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        attach(event.dataTransfer?.files);
      }}
    >
      <Pictures pictures={pictures.filter((one) => !isNote(one))} onRemove={remove} />
      <VoiceNotesLine notes={pictures.filter(isNote)} voice={voice} onDrop={remove} />
      {voice.seconds === null ? null : <RecordingBar voice={voice} />}
      <div class="composer-row" hidden={voice.seconds !== null}>
        <label class="icon-button attach" title={t("attach")}>
          <Icon name="plus" label={t("attach")} />
          <input
            type="file"
            multiple
            class="unseen"
            onChange={(event) => {
              attach(event.currentTarget.files);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <textarea
          ref={field}
          class="input composer-field"
          rows={1}
          value={text}
          aria-label={t("messageTo", { name: worker.name })}
          placeholder={t("messageTo", { name: worker.name })}
          enterkeyhint="enter"
          autocapitalize="sentences"
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!sends(event, isTouch(), settings.value.enterSends)) return;
            event.preventDefault();
            send();
          }}
          onPaste={(event) => {
            if (!event.clipboardData?.files.length) return;
            event.preventDefault();
            attach(event.clipboardData.files);
          }}
        />
        <VoiceButton voice={voice} />
        {empty && worker.workingSince !== null ? (
          <StopButton worker={worker} write={write} />
        ) : (
          <button type="submit" class="send" disabled={empty} aria-label={t("send")}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}

/** Stops what runs and takes back what waits; the words that wait come back into the field, to be said after all. */
function StopButton({ worker, write }: { worker: Worker; write: (text: string) => void }) {
  const { actions } = useApp();
  const waits = worker.queue.map((one) => one.text.trim()).filter((text) => text !== "");
  const label = worker.interrupting ? t("stopping") : t(worker.queue.length ? "stopAndTakeBack" : "stop");
  const stop = async () => {
    const outcome = await actions.interrupt(worker.name);
    if (outcome.ok && waits.length) write(waits.join("\n\n"));
  };
  return (
    <button
      type="button"
      class="send stop"
      disabled={worker.interrupting}
      aria-label={label}
      title={label}
      onClick={() => void stop()}
    >
      <Icon name="stop" />
    </button>
  );
}

/** A recording that is to be written down. */
function isNote(picture: Picture): boolean {
  return picture.mediaType.startsWith("audio/");
}

function resize(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, 200)}px`;
}
