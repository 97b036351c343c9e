/** Who else may speak to this node: every paired device, when it was last there, and a way to end it at once. */

import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { Loading, Notice, Problem } from "../parts/notice";
import { address } from "../parts/route";
import { span } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp, useMayWrite } from "../state/context";
import type { Device } from "../state/types";
import { t } from "../texts";

export function DevicesScreen() {
  const { actions, device } = useApp();
  const [added, setAdded] = useState(false);
  const [devices, setDevices] = useState<readonly Device[]>();
  const [problem, setProblem] = useState("");
  const load = () => void actions.devices().then(setDevices, () => setProblem(t("couldNotLoad")));
  useEffect(load, []);
  const addPasskey = async () => {
    const outcome = await actions.addPasskey();
    setAdded(outcome.ok);
    setProblem(outcome.ok ? "" : outcome.why);
  };
  const revoke = async (which: Device) => {
    if (which.me) {
      await actions.logout();
      return;
    }
    const outcome = await actions.revoke(which.id);
    setProblem(outcome.ok ? "" : outcome.why);
    if (outcome.ok) setDevices((known) => known?.filter((one) => one.id !== which.id));
  };
  return (
    <>
      <header class="top">
        <a class="icon-button" href={address({ screen: "more" })} aria-label={t("back")}>
          <Icon name="back" />
        </a>
        <h1 class="grow">{t("devices")}</h1>
      </header>
      <div class="body">
        <p class="small dim">{t("devicesExplained")}</p>
        <Problem text={problem} />
        {devices === undefined && !problem ? <Loading text={t("loading")} rows={2} /> : null}
        {devices?.length === 0 ? <Notice icon="phone" text={t("noDevices")} inline /> : null}
        <ul class="workers">
          {devices?.map((one) => (
            <DeviceRow key={one.id} device={one} onRevoke={() => void revoke(one)} />
          ))}
        </ul>
        <h2 class="section">{t("pairAnother")}</h2>
        <p class="small dim">{t("pairAnotherExplained")}</p>
        <code class="command">farhand pair</code>
        {actions.passkeys && !device.value?.readOnly ? (
          <>
            <h2 class="section">{t("passkeys")}</h2>
            <p class="small dim">{t("passkeysExplained")}</p>
            <button type="button" class="button" onClick={() => void addPasskey()}>
              {t("addPasskey")}
            </button>
          </>
        ) : null}
        {added ? (
          <p class="small dim" role="status">
            {t("passkeyAdded")}
          </p>
        ) : null}
      </div>
    </>
  );
}

function DeviceRow({ device, onRevoke }: { device: Device; onRevoke: () => void }) {
  const { clock } = useApp();
  // Every device may end itself.
  const mayEnd = useMayWrite() || device.me;
  const [sure, setSure] = useState(false);
  return (
    <li class="worker of-other">
      <span class="sign of-other">
        <Icon name="phone" />
      </span>
      <span class="grow">
        <span class="worker-first wrapping">
          <b class="one">
            <Shown text={device.name} />
          </b>
          {device.me ? <span class="chip accent">{t("thisDevice")}</span> : null}
          {device.readOnly ? <span class="chip">{t("readOnly")}</span> : null}
        </span>
        <span class="small dim session-where">
          {clock.value - device.lastSeen < 60
            ? t("hereNow")
            : t("seenAgo", { time: span(device.lastSeen, clock.value) })}{" "}
          · {t("pairedAgo", { time: span(device.pairedAt, clock.value) })}
        </span>
      </span>
      {mayEnd ? (
        <button type="button" class="button danger" onClick={() => (sure ? onRevoke() : setSure(true))}>
          {sure ? t("really") : device.me ? t("signOut") : t("revoke")}
        </button>
      ) : null}
    </li>
  );
}
