/** The app's state, from this device and from the node. */

import type { App } from "../types";

export async function openApp(): Promise<App> {
  throw new Error("not yet");
}
