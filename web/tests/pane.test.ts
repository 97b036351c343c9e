/** A worker's terminal over the node's API: pieces in order, a connection that comes back by itself, typing once. */

import { expect, test } from "vitest";
import { paneLink, typeInto } from "../src/state/live/pane";
import type { Fetch } from "../src/wire/http";
import type { Link } from "../src/wire/link";
import { Clock, settled } from "./clock";

function frame(text: string, more: object = {}): string {
  return `data: ${JSON.stringify({ now: { at: 1, pane: { data: btoa(text), ...more } } })}\n\n`;
}

const SCREEN = frame("screen", { columns: 80, rows: 24, reset: true });
const HEARTBEAT = 'data: {"now":{"at":2}}\n\n';
const NO_TERMINAL = JSON.stringify({ error: { code: "cannot_do", text: "ann has no terminal right now." } });

/** An answer that stays open until it is ended, or until whoever asked gives it up. */
class Answer {
  readonly isGivenUp: () => boolean;
  private readonly stream: ReadableStreamDefaultController<Uint8Array>;
  readonly response: Response;

  constructor(signal: AbortSignal | null | undefined) {
    let control: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (one) => {
        control = one;
      },
    });
    if (control === undefined) throw new Error("the stream has not begun");
    this.stream = control;
    this.response = new Response(body);
    this.isGivenUp = () => signal?.aborted ?? false;
    signal?.addEventListener("abort", () => {
      try {
        this.stream.error(new DOMException("given up", "AbortError"));
      } catch {
        // It has ended already.
      }
    });
  }

  write(text: string): void {
    this.stream.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.stream.close();
  }
}

class Watched {
  readonly clock = new Clock();
  readonly asked: string[] = [];
  readonly answers: Answer[] = [];
  readonly told: string[] = [];
  /** What the node says next time, where it does not answer with a stream. */
  refusal: (() => Response) | null;
  readonly link: Link;

  constructor(refusal: (() => Response) | null = null) {
    this.refusal = refusal;
    const fetch: Fetch = async (address, options) => {
      this.asked.push(`${options?.method} ${address}`);
      if (this.refusal) return this.refusal();
      const answer = new Answer(options?.signal);
      this.answers.push(answer);
      return answer.response;
    };
    this.link = paneLink(fetch, this.clock, "än n", {
      piece: (piece) =>
        this.told.push(`${new TextDecoder().decode(piece.bytes)} ${piece.columns}${piece.reset ? " reset" : ""}`),
      live: () => this.told.push("live"),
      lost: (why) => this.told.push(`lost ${why}`.trim()),
    });
    void this.link.run();
  }

  get newest(): Answer {
    const answer = this.answers.at(-1);
    if (!answer) throw new Error("nobody asked");
    return answer;
  }
}

test("pieces come in order over a POST, with the size of the screen, and heartbeats are none", async () => {
  const watched = new Watched();
  await settled();
  watched.newest.write(`${SCREEN}${HEARTBEAT}${frame("two")}`);
  await settled();
  expect(watched.asked).toEqual(["POST /api/workers/%C3%A4n%20n/pane"]);
  expect(watched.told).toEqual(["screen 80 reset", "live", "two 0"]);
  watched.link.stop();
});

test("a stream that is cut is dialled again by itself, and the whole screen comes anew", async () => {
  const watched = new Watched();
  await settled();
  watched.newest.write(SCREEN);
  await settled();
  await watched.clock.advance(5_000);
  watched.newest.end();
  await settled();
  await watched.clock.advance(0);
  expect(watched.answers).toHaveLength(2);
  watched.newest.write(SCREEN);
  await settled();
  expect(watched.told).toEqual(["screen 80 reset", "live", "screen 80 reset", "live"]);
  watched.link.stop();
});

test("a stream without heartbeats is given up, and one with them is not", async () => {
  const watched = new Watched();
  await settled();
  watched.newest.write(SCREEN);
  await settled();
  for (let beat = 0; beat < 5; beat += 1) {
    await watched.clock.advance(20_000);
    watched.newest.write(HEARTBEAT);
    await settled();
  }
  expect(watched.answers).toHaveLength(1);
  await watched.clock.advance(46_000);
  await watched.clock.advance(0);
  expect(watched.answers[0]?.isGivenUp()).toBe(true);
  expect(watched.answers).toHaveLength(2);
  watched.link.stop();
});

test("while the node is away it is asked ever more slowly, and at once when the phone wakes up", async () => {
  const watched = new Watched();
  await settled();
  watched.newest.write(SCREEN);
  await settled();
  await watched.clock.advance(5_000);
  watched.refusal = () => new Response("", { status: 502 });
  watched.newest.end();
  await settled();
  await watched.clock.advance(20_000);
  expect(watched.told.filter((one) => one === "lost").length).toBeGreaterThan(2);
  const asked = watched.asked.length;
  expect(asked).toBeLessThan(9);
  watched.refusal = null;
  watched.link.wake();
  await settled();
  await watched.clock.advance(0);
  expect(watched.asked).toHaveLength(asked + 1);
  watched.newest.write(SCREEN);
  await settled();
  expect(watched.told.slice(-2)).toEqual(["screen 80 reset", "live"]);
  watched.link.stop();
});

test("an agent without a terminal says so in the node's words, and is shown once it has one", async () => {
  const watched = new Watched(() => new Response(NO_TERMINAL, { status: 400 }));
  await settled();
  expect(watched.told.at(0)).toBe("lost ann has no terminal right now.");
  watched.refusal = null;
  await watched.clock.advance(0);
  watched.newest.write(SCREEN);
  await settled();
  expect(watched.told.slice(-2)).toEqual(["screen 80 reset", "live"]);
  watched.link.stop();
});

test("a terminal that ends as soon as it is shown is not asked for all the time", async () => {
  const watched = new Watched(() => new Response(SCREEN));
  await settled();
  await watched.clock.advance(10_000);
  expect(watched.asked.length).toBeLessThan(9);
  watched.link.stop();
});

test("what is typed is posted once, and a lost answer is told and not tried again", async () => {
  const bodies: string[] = [];
  const taken: Fetch = async (_address, options) => {
    bodies.push(String(options?.body));
    return new Response(null, { status: 204 });
  };
  expect(await typeInto(taken, "ann", { text: "ls", paste: true, keys: ["Enter"] })).toEqual({ ok: true });
  expect(bodies).toEqual(['{"text":"ls","paste":true,"keys":["Enter"]}']);
  let tries = 0;
  const lost: Fetch = async () => {
    tries += 1;
    throw new TypeError("network");
  };
  expect((await typeInto(lost, "ann", { keys: ["Enter"] })).ok).toBe(false);
  expect(tries).toBe(1);
});
