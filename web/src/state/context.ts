/** Hands the app's state to every screen. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { App } from "./types";

const Context = createContext<App | null>(null);

export const AppProvider = Context.Provider;

/** The state and the actions, from any component below the provider. */
export function useApp(): App {
  const app = useContext(Context);
  if (app === null) {
    throw new Error("useApp needs an AppProvider above it.");
  }
  return app;
}

/** Whether this device may change anything: what it may not do, it is not offered. */
export function useMayWrite(): boolean {
  return !useApp().device.value?.readOnly;
}
