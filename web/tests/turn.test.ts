/** How a turn ended, as it is drawn: what it did to the files can be looked at, however it ended and by whatever tool. */

import { signal } from "@preact/signals";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { StateWords } from "../src/parts/state-words";
import { Turn } from "../src/parts/turn";
import { AppProvider } from "../src/state/context";
import type { App, TurnRow, Worker } from "../src/state/types";

function drawn(
  row: Partial<TurnRow>,
  directory = "/home/ann",
  triable: readonly string[] = [],
  readOnly = false,
): string {
  const whole = {
    kind: "turn",
    key: "t1",
    turn: "t1",
    text: "done",
    thought: "",
    tools: [],
    asks: [],
    files: [],
    notes: [],
    live: false,
    how: "completed",
    error: "",
    usage: null,
    startedAt: 1,
    endedAt: 9,
    ...row,
  } as unknown as TurnRow;
  const team = signal([{ name: "ann", directory, triable }]);
  const app = { clock: signal(0), team, device: signal({ readOnly }), actions: {} } as unknown as App;
  return renderToString(h(AppProvider, { value: app, children: h(Turn, { row: whole, worker: "ann" }) }));
}

const SHELL = {
  call: "c",
  tool: "Bash",
  title: "sed -i",
  detail: "sed -i s/a/b/ x",
  startedAt: 1,
  ok: true,
  output: "",
};

test("a device that may only look is shown the changes of a turn and offered no review", () => {
  const html = drawn({}, "/home/ann", [], true);
  expect(html).toContain("#/w/ann/files/t1");
  expect(html).not.toContain("Review");
});

test.each(["completed", "failed", "interrupted", "lost"] as const)("a turn that is %s has its changes", (how) => {
  for (const tools of [[], [SHELL]]) {
    const html = drawn({ how, tools });
    expect(html).toContain("#/w/ann/files/t1");
    expect(html).toContain("Review");
  }
});

test("a turn that goes on, or of a worker without a folder, has none", () => {
  for (const html of [drawn({ live: true, how: null }), drawn({}, "")]) {
    expect(html).not.toContain("/files/t1");
    expect(html).not.toContain("Review");
  }
});

test("a worker whose last turn failed does not read as idle", () => {
  const words = (failed: boolean) => {
    const worker = { state: "available", failed } as Worker;
    const app = { clock: signal(0) } as unknown as App;
    return renderToString(h(AppProvider, { value: app, children: h(StateWords, { worker }) }));
  };
  expect(words(true)).toContain("last turn failed");
  expect(words(false)).toContain("idle");
});

test("a turn that failed is tried again where the node can, and by nobody who may only look", () => {
  const failed = { how: "failed", error: "401", advice: "Sign in." } as const;
  expect(drawn(failed, "/srv", ["t1"])).toContain("Try again");
  expect(drawn(failed, "/srv", ["t1"])).toContain("Sign in.");
  expect(drawn(failed, "/srv", ["t0"])).not.toContain("Try again");
  expect(drawn(failed, "/srv", ["t1"], true)).not.toContain("Try again");
});
