/** Starts the app: its state first, so that the last known team is on the screen before the network has answered. */

import "./style/index.css";
import { render } from "preact";
import { Root } from "./screens/root";
import { AppProvider } from "./state/context";
import { openApp } from "./state/live/app";
import type { App } from "./state/types";

async function open(): Promise<App> {
  if (import.meta.env.MODE === "fixture") {
    return (await import("./state/fixture")).fixtureApp(new URLSearchParams(location.search));
  }
  return openApp();
}

const root = document.getElementById("app");
const app = await open();
if (root !== null) {
  render(
    <AppProvider value={app}>
      <Root />
    </AppProvider>,
    root,
  );
}
