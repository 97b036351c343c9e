/** The folds give what the node's own give: every golden fixture, from the start and from the middle, with events heard twice. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type InboxItem, inbox } from "../src/wire/inbox";
import { asView, EMPTY, foldLog, type Log } from "../src/wire/log";
import { fold } from "../src/wire/present";
import { foldReceipts, type Receipts } from "../src/wire/receipts";
import type { Event, Present, TeamView } from "../src/wire/types";

const FOLDER = new URL("../../tests/golden/", import.meta.url);
const STORIES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

interface Story {
  readonly events: readonly Event[];
  readonly view: TeamView;
  readonly inbox?: readonly InboxItem[];
}

interface Team {
  readonly present: Present;
  readonly logs: Readonly<Record<string, Log>>;
  readonly receipts: Receipts;
}

const NOBODY: Team = { present: {}, logs: {}, receipts: {} };

function read(name: string): Story {
  return JSON.parse(readFileSync(new URL(name, FOLDER), "utf-8")) as Story;
}

function heard(team: Team, event: Event): Team {
  if (event.seq <= (team.present.seq ?? 0)) {
    return team;
  }
  const before = team.present.workers?.[event.worker];
  const present = fold(team.present, event);
  const log = foldLog(team.logs[event.worker] ?? EMPTY, event, before, present.workers?.[event.worker]);
  return {
    present,
    logs: { ...team.logs, [event.worker]: log },
    receipts: foldReceipts(team.receipts, before, event),
  };
}

/** Without what is left out on the wire: what has its usual value. A tool that failed says so with `ok: false`. */
function told(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    return value.map((one) => told(one));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const fields = Object.entries(value)
    .map(([name, one]) => [name, told(one, name)] as const)
    .filter(([name, one]) => (name === "ok" ? one !== null : !isUsual(one)));
  return Object.keys(value).length > 0 && fields.length === 0 && key !== "" ? undefined : Object.fromEntries(fields);
}

function isUsual(value: unknown): boolean {
  const empty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === null || value === false || value === "" || value === 0 || empty;
}

function view(team: Team): unknown {
  const conversations = Object.fromEntries(Object.entries(team.logs).map(([name, log]) => [name, asView(log)]));
  return told({ present: team.present, conversations, receipts: team.receipts });
}

test("there are fixtures", () => expect(STORIES.length).toBeGreaterThan(5));

test.each(STORIES)("%s", (name) => {
  const { events, view: expected, inbox: waits = [] } = read(name);
  for (let cut = 0; cut < events.length; cut += 1) {
    const early = events.slice(0, cut).reduce(heard, NOBODY);
    const kept = JSON.parse(JSON.stringify(early)) as Team;
    const team = events.slice(Math.max(0, cut - 3)).reduce(heard, kept);
    expect(view(team), `cut at ${cut}`).toEqual(told(expected));
    expect(told(inbox(team.present))).toEqual(waits);
  }
});
