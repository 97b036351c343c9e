/** A worker's own terminal, live: its screen as text, a row of keys, and a line whose text is typed as one paste. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { PlainInput } from "../parts/input";
import { Loading, Notice } from "../parts/notice";
import type { PixelName } from "../parts/pixels";
import { address } from "../parts/route";
import { type Emulator, openEmulator, type Screen } from "../parts/terminal/emulator";
import type { Run } from "../parts/terminal/runs";
import { useApp } from "../state/context";
import type { PaneInput, PaneWatch, Worker } from "../state/types";
import { t } from "../texts";

const KEYS: readonly { readonly label: string; readonly key: string; readonly icon?: PixelName }[] = [
  { label: "esc", key: "Escape" },
  { label: "tab", key: "Tab" },
  { label: "s-tab", key: "BTab" },
  { label: "^C", key: "C-c" },
  { label: "enter", key: "Enter" },
  { label: "Left", key: "Left", icon: "back" },
  { label: "Up", key: "Up", icon: "up" },
  { label: "Down", key: "Down", icon: "down" },
  { label: "Right", key: "Right", icon: "next" },
];

export function TerminalScreen({ worker }: { worker: Worker }) {
  const { actions, device } = useApp();
  const { screen, problem, isLost, again } = usePane(worker.name);
  const [refused, setRefused] = useState("");
  const type = async (input: PaneInput) => {
    const outcome = await actions.type(worker.name, input);
    setRefused(outcome.ok ? "" : outcome.why);
  };
  return (
    <>
      <header class="top">
        <a class="icon-button" href={address({ worker: worker.name })} aria-label={t("backTo", { name: worker.name })}>
          <Icon name="back" />
        </a>
        <div class="grow">
          <h1>
            <span class="one">{worker.name}</span>
            <span class="small dim one">{problem ? t("terminal") : t("terminalLive")}</span>
          </h1>
        </div>
        {screen ? (
          <span class="chip">
            {screen.columns}×{screen.rows}
          </span>
        ) : null}
      </header>
      {problem ? (
        <Notice icon="terminal" text={problem}>
          <button type="button" class="button" onClick={again}>
            {t("tryAgain")}
          </button>
        </Notice>
      ) : screen ? (
        <ScreenText screen={screen} name={worker.name} />
      ) : (
        <div class="body">
          <Loading text={t("loading")} />
        </div>
      )}
      {isLost && !problem ? (
        <p class="dim small banner" role="status">
          {t("connecting")}
          <button type="button" class="text-button small" onClick={again}>
            {t("tryAgain")}
          </button>
        </p>
      ) : null}
      {refused ? (
        <p class="bad small banner" role="alert">
          {refused}
        </p>
      ) : null}
      {problem ? null : device.value?.readOnly ? (
        <p class="foot small dim">{t("readOnlyDevice")}</p>
      ) : (
        <Keyboard onType={(input) => void type(input)} />
      )}
    </>
  );
}

interface Pane {
  readonly screen: Screen | undefined;
  /** Why there is no terminal, in the node's words. */
  readonly problem: string;
  /** The node is not reached: what is shown is what was last heard. */
  readonly isLost: boolean;
  readonly again: () => void;
}

/** What the terminal shows; it comes back by itself after a cut, and at once with `again`. */
function usePane(worker: string): Pane {
  const { actions } = useApp();
  const [screen, setScreen] = useState<Screen>();
  const [problem, setProblem] = useState("");
  const [isLost, setLost] = useState(false);
  const watch = useRef<PaneWatch | undefined>(undefined);
  useEffect(() => {
    let emulator: Emulator | undefined;
    let wanted = true;
    void openEmulator(setScreen).then((opened) => {
      if (!wanted) {
        opened.end();
        return;
      }
      emulator = opened;
      watch.current = actions.watchPane(worker, {
        piece: opened.write,
        live: () => {
          setProblem("");
          setLost(false);
        },
        lost: (why) => {
          setProblem(why);
          setLost(true);
        },
      });
    });
    return () => {
      wanted = false;
      watch.current?.stop();
      emulator?.end();
    };
  }, [worker]);
  return { screen, problem, isLost, again: () => watch.current?.again() };
}

function ScreenText({ screen, name }: { screen: Screen; name: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="terminal" tabIndex={0} aria-label={t("terminalOf", { name })}>
      <pre>
        {screen.lines.map((line, row) => (
          <div class="terminal-line" key={row}>
            {line.map((run, place) => (
              <RunText key={place} run={run} />
            ))}
          </div>
        ))}
      </pre>
    </section>
  );
}

function RunText({ run }: { run: Run }) {
  if (!run.ink && !run.ground && !run.bold && !run.dim && !run.underline) return <>{run.text}</>;
  const looks = [run.bold ? "bold" : "", run.dim ? "faded" : "", run.underline ? "underlined" : ""]
    .filter(Boolean)
    .join(" ");
  return (
    <span class={looks || undefined} style={{ color: run.ink || undefined, backgroundColor: run.ground || undefined }}>
      {run.text}
    </span>
  );
}

function Keyboard({ onType }: { onType: (input: PaneInput) => void }) {
  const [text, setText] = useState("");
  const paste = async () => {
    const copied = await navigator.clipboard?.readText().catch(() => "");
    if (copied) onType({ text: copied, paste: true });
  };
  const send = () => {
    onType(text ? { text, paste: true, keys: ["Enter"] } : { keys: ["Enter"] });
    setText("");
  };
  return (
    <>
      <div class="terminal-keys">
        {KEYS.map(({ label, key, icon }) => (
          <button type="button" key={key} aria-label={icon ? label : undefined} onClick={() => onType({ keys: [key] })}>
            {icon ? <Icon name={icon} size={24} /> : label}
          </button>
        ))}
      </div>
      <form
        class="composer foot"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div class="composer-row">
          {typeof navigator !== "undefined" && navigator.clipboard ? (
            <button type="button" class="icon-button" aria-label={t("paste")} onClick={() => void paste()}>
              <Icon name="paste" />
            </button>
          ) : null}
          <PlainInput
            value={text}
            label={t("terminalTyping")}
            placeholder={t("terminalTyping")}
            grow
            onInput={setText}
          />
          <button type="submit" class="send" aria-label={t("send")}>
            <Icon name="send" />
          </button>
        </div>
      </form>
    </>
  );
}
