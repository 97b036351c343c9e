/** What must be told on every screen: that the node is out of reach, that there is a new version, what came of a tap. */

import { useEffect } from "preact/hooks";
import { useApp } from "../state/context";
import type { Toast } from "../state/types";
import { t } from "../texts";
import { Icon } from "./icon";
import { span } from "./times";
import { Shown } from "./visible";

const TOAST_MILLISECONDS = 6000;

export function Banner() {
  const { connection, clock, outbox, updateReady, actions } = useApp();
  const { link, lastLive, nextTry } = connection.value;
  if (link === "offline") {
    const waits = outbox.value.length;
    const since = lastLive ? t("offlineSince", { time: span(lastLive, clock.value) }) : t("offlineNow");
    return (
      <div class="banner" role="status">
        <Icon name="offline" />
        <span class="grow">
          {since} {waits ? t("waitHere", { n: waits }) : t("writeAnyway")}
        </span>
        <button type="button" class="text-button" onClick={() => actions.reconnect()}>
          {nextTry === null ? t("connecting") : t("tryNow")}
        </button>
      </div>
    );
  }
  if (updateReady.value) {
    return (
      <div class="banner" role="status">
        <span class="grow">{t("newVersion")}</span>
        <button type="button" class="text-button" onClick={() => actions.update()}>
          {t("takeIt")}
        </button>
      </div>
    );
  }
  return null;
}

export function Toasts() {
  const { toasts } = useApp();
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function OneToast({ toast }: { toast: Toast }) {
  const { actions } = useApp();
  useEffect(() => {
    const timer = setTimeout(() => actions.dismiss(toast.id), TOAST_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [toast.id, actions]);
  return (
    <div class={toast.kind === "error" ? "toast bad" : "toast"}>
      <span class="grow">
        <Shown text={toast.text} />
      </span>
      <button type="button" class="icon-button" aria-label={t("close")} onClick={() => actions.dismiss(toast.id)}>
        <Icon name="cross" size={12} />
      </button>
    </div>
  );
}
