/** The whole app: one pane on a phone, two or three where there is room, sheets over them, and what must be told everywhere. */

import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { WrapCode } from "../parts/markdown/code";
import { Notice } from "../parts/notice";
import type { PixelName } from "../parts/pixels";
import { QueueSheet } from "../parts/queue";
import { address, followAddress, type Route, route, type Screen } from "../parts/route";
import { useShortcuts } from "../parts/shortcuts";
import { Banner, Toasts } from "../parts/telling";
import { useVisibleHeight, watchWidth } from "../parts/viewport";
import { useApp } from "../state/context";
import type { Worker } from "../state/types";
import { language, preferred, type TextKey, t } from "../texts";
import { AskSheet } from "./ask-sheet";
import { ConversationScreen } from "./conversation";
import { DevicesScreen } from "./devices";
import { FilesScreen } from "./files";
import { HireSheet } from "./hire-sheet";
import { InboxScreen } from "./inbox";
import { KeysSheet } from "./keys-sheet";
import { MoreScreen } from "./more";
import { NotificationsScreen } from "./notifications";
import { PairingScreen } from "./pairing";
import { ReviewSheet } from "./review-sheet";
import { SearchScreen } from "./search";
import { SessionSheet } from "./session-sheet";
import { SessionsScreen } from "./sessions";
import { SprintSheet } from "./sprint-sheet";
import { SprintsScreen } from "./sprints";
import { TeamScreen } from "./team";
import { TerminalScreen } from "./terminal";
import { Tour } from "./tour";
import { WorkerSheet } from "./worker-sheet";

// What the phone puts around the app has the colour of its ground.
const BAR_COLOURS = { dark: "#0b0c0f", light: "#fbfaf7" };
const TWO_PANES = 720;
const THREE_PANES = 1180;
// Where there is room for two panes, these have the wide one: nothing of theirs opens beside them.
const BESIDE_THE_TEAM: readonly Screen[] = ["more", "devices", "sprints", "notifications", "sessions", "search"];

export function Root() {
  const { connection, settings } = useApp();
  useVisibleHeight();
  useEffect(followAddress, []);
  useSettings();
  if (connection.value.link === "unpaired") return <PairingScreen />;
  return (
    <>
      <Banner />
      <WrapCode.Provider value={settings.value.wrapCode}>
        <Panes />
        <Sheets />
      </WrapCode.Provider>
      {settings.value.toured || route.value.sheet ? null : <Tour />}
      <Toasts />
    </>
  );
}

function useSettings(): void {
  const { settings } = useApp();
  const { theme, language: wanted, textSize } = settings.value;
  const shown = wanted === "system" ? preferred(navigator.languages) : wanted;
  useEffect(() => {
    const page = document.documentElement;
    if (theme === "system") delete page.dataset.theme;
    else page.dataset.theme = theme;
    page.dataset.text = textSize;
    for (const bar of document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")) {
      const own = bar.media.includes("light") ? BAR_COLOURS.light : BAR_COLOURS.dark;
      bar.content = theme === "system" ? own : BAR_COLOURS[theme];
    }
    page.lang = shown;
    language.value = shown;
  }, [theme, textSize, shown]);
}

function Panes() {
  const width = useWidth();
  useShortcuts();
  const { team } = useApp();
  const now = route.value;
  const worker = team.value?.find((one) => one.name === now.worker);
  const unknown = now.worker !== "" && team.value !== null && !worker;
  const talk = worker ? <ConversationScreen worker={worker} /> : unknown ? <Gone name={now.worker} /> : null;
  const side = worker ? sideOf(now, worker) : null;
  if (width === 1) {
    if (side)
      return (
        <main class="panes">
          <section class="pane">{side}</section>
        </main>
      );
    if (talk)
      return (
        <main class="panes">
          <section class="pane">{talk}</section>
        </main>
      );
    return (
      <>
        <main class="panes">
          <section class="pane">
            <ScreenOf route={now} />
          </section>
        </main>
        <Navigation />
      </>
    );
  }
  const both = width === 3 && side !== null;
  const apart = BESIDE_THE_TEAM.includes(now.screen);
  return (
    <div class={both ? "panes three" : "panes two"}>
      <section class="pane" aria-label={t("team")}>
        {apart ? <TeamScreen /> : <ScreenOf route={now} />}
        <Navigation />
      </section>
      <main class={apart ? "pane roomy" : "pane"}>
        {(both ? talk : (side ?? talk)) ?? (apart ? <ScreenOf route={now} /> : <Welcome />)}
      </main>
      {both ? (
        <aside class="pane" aria-label={t("filesAndChanges")}>
          {side}
        </aside>
      ) : null}
    </div>
  );
}

function sideOf({ side, about }: Route, worker: Worker) {
  if (side === "terminal") return <TerminalScreen key={worker.name} worker={worker} />;
  return side === "files" ? <FilesScreen key={`${worker.name} ${about}`} worker={worker} turn={about} /> : null;
}

function useWidth(): 1 | 2 | 3 {
  const [two, setTwo] = useState(() => matchMedia(`(min-width: ${TWO_PANES}px)`).matches);
  const [three, setThree] = useState(() => matchMedia(`(min-width: ${THREE_PANES}px)`).matches);
  useEffect(() => watchWidth(TWO_PANES, setTwo), []);
  useEffect(() => watchWidth(THREE_PANES, setThree), []);
  return three ? 3 : two ? 2 : 1;
}

function ScreenOf({ route: now }: { route: Route }) {
  switch (now.screen) {
    case "team":
      return <TeamScreen />;
    case "inbox":
      return <InboxScreen />;
    case "sessions":
      return <SessionsScreen />;
    case "more":
      return <MoreScreen />;
    case "devices":
      return <DevicesScreen />;
    case "search":
      return <SearchScreen />;
    case "sprints":
      return <SprintsScreen />;
    case "notifications":
      return <NotificationsScreen />;
  }
}

const NAVIGATION: readonly { screen: Screen; icon: PixelName; text: TextKey; also?: readonly Screen[] }[] = [
  { screen: "team", icon: "team", text: "team" },
  { screen: "inbox", icon: "inbox", text: "inbox" },
  { screen: "sessions", icon: "clock", text: "sessions" },
  { screen: "more", icon: "sliders", text: "more", also: ["devices", "sprints", "notifications"] },
];

function Navigation() {
  const { asks } = useApp();
  const { screen } = route.value;
  return (
    <nav class="nav" aria-label={t("navigation")}>
      {NAVIGATION.map((item) => (
        <a
          key={item.screen}
          href={address({ screen: item.screen })}
          aria-current={item.screen === screen || item.also?.includes(screen) ? "page" : undefined}
        >
          <Icon name={item.icon} />
          <span>{t(item.text)}</span>
          {item.screen === "inbox" && asks.value.length ? <span class="count">{asks.value.length}</span> : null}
        </a>
      ))}
    </nav>
  );
}

function Sheets() {
  const { team } = useApp();
  const [kind = "", about = ""] = splitOnce(route.value.sheet);
  const worker = team.value?.find((one) => one.name === about);
  if (kind === "ask") return <AskSheet id={about} />;
  if (kind === "hire") return <HireSheet />;
  if (kind === "keys") return <KeysSheet />;
  if (kind === "session") return <SessionSheet about={about} />;
  if (kind === "queue" && worker) return <QueueSheet worker={worker} />;
  if (kind === "sprint" && worker) return <SprintSheet worker={worker} />;
  if (kind === "worker" && worker) return <WorkerSheet worker={worker} />;
  if (kind === "review") {
    const [name = "", turn = ""] = about.split(" ");
    const judged = team.value?.find((one) => one.name === name);
    return judged ? <ReviewSheet worker={judged} turn={turn} /> : null;
  }
  return null;
}

function splitOnce(sheet: string): readonly string[] {
  const place = sheet.indexOf(":");
  return place < 0 ? [sheet] : [sheet.slice(0, place), sheet.slice(place + 1)];
}

function Gone({ name }: { name: string }) {
  return (
    <Notice icon="agent" text={t("nobodyCalled", { name })}>
      <a class="button" href={address({})}>
        {t("backToTeam")}
      </a>
    </Notice>
  );
}

function Welcome() {
  const { team } = useApp();
  const people = route.value.screen === "team" && team.value?.length;
  return <Notice icon="hand" text={people ? t("pickSomebody") : t("keysHint")} />;
}
