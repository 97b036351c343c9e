/** The wire is had one way or the other: a WebSocket where there is one, a POST where something lets none through. */

import { expect, test } from "vitest";
import { WireDialler } from "../src/wire/dial";
import type { Timers } from "../src/wire/link";
import type { ServerFrame } from "../src/wire/types";

const HELLO = { hello: 1, journal: "j", first: 1, seq: 1, resume: "gap", build: "1" };
const NEVER: Timers = { now: () => 0, after: () => () => undefined };

/** A WebSocket that opens and says hello, or is refused. */
class FakeSocket {
  readyState: number = WebSocket.CONNECTING;
  readonly sent: string[] = [];
  onopen: () => void = () => undefined;
  onclose: () => void = () => undefined;
  onmessage: (event: { data: string }) => void = () => undefined;

  constructor(opens: boolean) {
    queueMicrotask(() => {
      this.readyState = opens ? WebSocket.OPEN : WebSocket.CLOSED;
      opens ? this.onopen() : this.onclose();
    });
  }

  send(text: string): void {
    this.sent.push(text);
    if (this.sent.length === 1) {
      this.onmessage({ data: JSON.stringify(HELLO) });
    }
  }

  close(): void {
    this.readyState = WebSocket.CLOSED;
  }
}

function node(status = 200) {
  const posted: string[] = [];
  const fetch = async (address: string): Promise<Response> => {
    posted.push(address);
    return status === 200
      ? new Response(`data: ${JSON.stringify(HELLO)}\n\n`)
      : Response.json({ error: { code: "not_allowed", text: "no", details: {} } }, { status });
  };
  return { posted, fetch };
}

async function first(dialler: WireDialler): Promise<ServerFrame | undefined> {
  for await (const frame of dialler.dial({}, new AbortController().signal)) {
    return frame;
  }
  return undefined;
}

test("over a WebSocket, with what is looked at told the same way", async () => {
  const { posted, fetch } = node();
  const sockets: FakeSocket[] = [];
  const connect = () => {
    sockets.push(new FakeSocket(true));
    return sockets.at(-1) as unknown as WebSocket;
  };
  const dialler = new WireDialler(fetch, connect, NEVER);
  for await (const frame of dialler.dial({ view: { worker: "ann" } }, new AbortController().signal)) {
    expect(frame).toEqual(HELLO);
    dialler.tell({ worker: "bob" });
    break;
  }
  expect(sockets[0]?.sent).toEqual(['{"view":{"worker":"ann"}}', '{"view":{"worker":"bob"}}']);
  expect(posted).toEqual([]);
});

test("where no WebSocket gets through it is a POST, and after a while a POST at once", async () => {
  const { posted, fetch } = node();
  let tried = 0;
  const connect = () => {
    tried += 1;
    return new FakeSocket(false) as unknown as WebSocket;
  };
  const dialler = new WireDialler(fetch, connect, NEVER);
  for (let dials = 0; dials < 4; dials += 1) {
    expect(await first(dialler)).toEqual(HELLO);
  }
  expect([tried, posted.length]).toEqual([2, 4]);
});

test("a node that does not know the device says so, although a WebSocket cannot", async () => {
  const { fetch } = node(403);
  const dialler = new WireDialler(fetch, () => new FakeSocket(false) as unknown as WebSocket, NEVER);
  await expect(first(dialler)).rejects.toMatchObject({ kind: "stranger" });
});
