/** Where the person is, kept in the address behind `#`, so that back, reload and links work; a sheet is a step of its own. */

import { signal } from "@preact/signals";

export type Screen = "team" | "inbox" | "sessions" | "more" | "devices" | "search" | "sprints" | "notifications";
export type Side = "files" | "terminal";

export interface Route {
  readonly screen: Screen;
  /** Whose conversation is open; empty for nobody's. */
  readonly worker: string;
  /** What is open beside the conversation, or over it on a phone. */
  readonly side: Side | "";
  /** What the side is about: a turn, for its changes; empty for the whole folder. */
  readonly about: string;
  /** The sheet that is open: its kind and what it is about, as `ask:a1`. */
  readonly sheet: string;
}

const SCREENS: readonly Screen[] = [
  "team",
  "inbox",
  "sessions",
  "more",
  "devices",
  "search",
  "sprints",
  "notifications",
];
const SIDES: readonly Side[] = ["files", "terminal"];

/** Reads the part of an address behind `#`; what makes no sense is the team. */
export function readRoute(hash: string): Route {
  const whole = hash.replace(/^#?\/?/, "");
  const mark = whole.indexOf("!");
  const [path, sheet] = mark < 0 ? [whole, ""] : [whole.slice(0, mark), whole.slice(mark + 1)];
  const [first = "", second = "", third = "", fourth = ""] = path.split("/").map(decode);
  const screen = SCREENS.find((one) => one === first) ?? "team";
  const worker = first === "w" ? second : "";
  const side = (worker && SIDES.find((one) => one === third)) || "";
  return { screen, worker, side, about: side ? fourth : "", sheet: decode(sheet) };
}

/** The address of a route, with its `#`. */
export function address(route: Partial<Route>): string {
  const { screen = "team", worker = "", side = "", about = "", sheet = "" } = route;
  const path = worker
    ? `w/${encoded(worker)}${side ? `/${side}` : ""}${side && about ? `/${encoded(about)}` : ""}`
    : screen === "team"
      ? ""
      : screen;
  return `#/${path}${sheet ? `!${encodeURIComponent(sheet)}` : ""}`;
}

export const route = signal<Route>(readRoute(typeof location === "undefined" ? "" : location.hash));
// How many sheets were opened on top of where the person was: only those are closed by going back.
let opened = 0;

export function go(to: Partial<Route>, options: { replace?: boolean } = {}): void {
  const hash = address(to);
  if (options.replace) history.replaceState(history.state, "", hash);
  else if (hash !== location.hash) history.pushState(null, "", hash);
  route.value = readRoute(hash);
}

/** Opens a sheet over what is shown. */
export function openSheet(kind: string, about = ""): void {
  const sheet = about ? `${kind}:${about}` : kind;
  const replace = route.value.sheet !== "";
  if (!replace) opened += 1;
  go({ ...route.value, sheet }, { replace });
}

/** Closes the sheet, and leaves no trace of it in the way back. */
export function closeSheet(): void {
  if (route.value.sheet === "") return;
  if (opened > 0) {
    opened -= 1;
    history.back();
  } else {
    go({ ...route.value, sheet: "" }, { replace: true });
  }
}

/** Follows the browser's own way back and forth. */
export function followAddress(): () => void {
  const read = () => {
    route.value = readRoute(location.hash);
    if (route.value.sheet === "") opened = 0;
  };
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  return () => {
    removeEventListener("popstate", read);
    removeEventListener("hashchange", read);
  };
}

/** `!` divides, so that it must not stand in a name. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll("!", "%21");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
