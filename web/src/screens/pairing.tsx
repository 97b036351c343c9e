/** Pairs this browser with a node: the one-time code, typed or from the link that was scanned. */

import { useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { Problem } from "../parts/notice";
import { useApp } from "../state/context";
import { t } from "../texts";

export function PairingScreen() {
  const { actions, connection } = useApp();
  const [code, setCode] = useState("");
  const [name, setName] = useState(deviceName);
  const [problem, setProblem] = useState(connection.value.why);
  const [busy, setBusy] = useState(false);
  const pair = async () => {
    setBusy(true);
    const outcome = await actions.pair(code.trim(), name.trim());
    setBusy(false);
    setProblem(outcome.ok ? "" : outcome.why);
  };
  const usePasskey = async () => {
    const outcome = await actions.usePasskey(name.trim());
    setProblem(outcome.ok ? "" : outcome.why);
  };
  return (
    <main class="pairing">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void pair();
        }}
      >
        <span class="mark">
          <Icon name="hand" size={72} />
        </span>
        <h1>farhand</h1>
        <p class="dim">{t("pairingExplained")}</p>
        <code class="command">farhand pair</code>
        <label class="field">
          <span class="label">{t("pairingCode")}</span>
          <input
            class="input code-input"
            value={code}
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck={false}
            placeholder="XXXXX-XXXXX"
            onInput={(event) => setCode(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span class="label">{t("deviceName")}</span>
          <input
            class="input"
            value={name}
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <Problem text={problem} />
        <button type="submit" class="button primary" disabled={code.trim() === "" || busy}>
          {busy ? t("pairing") : t("pairNow")}
        </button>
        {actions.passkeys ? (
          <button type="button" class="button" disabled={busy} onClick={() => void usePasskey()}>
            {t("usePasskey")}
          </button>
        ) : null}
        <p class="small dim">{t("pairingSafe")}</p>
      </form>
    </main>
  );
}

/** What this browser would be called: what it is, on what. */
export function deviceName(agent: string = navigator.userAgent): string {
  const browser =
    ["Edg", "OPR", "Firefox", "CriOS", "Chrome", "Safari"].find((one) => agent.includes(one)) ?? "Browser";
  const system = ["iPhone", "iPad", "Android", "Mac", "Windows", "Linux"].find((one) => agent.includes(one)) ?? "";
  const called = { Edg: "Edge", OPR: "Opera", CriOS: "Chrome" }[browser] ?? browser;
  return system ? `${called}, ${system}` : called;
}
