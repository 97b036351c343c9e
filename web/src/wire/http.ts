/** Asks the node: one request, its answer or what went wrong, in the three kinds that the app tells apart. */

import { refusal, t } from "../texts";

/** `unreachable`: nobody can tell whether it arrived, try again. `refused`: the node said no. `stranger`: it does not know this device. */
export type Failure = "unreachable" | "refused" | "stranger";

export class NodeFailure extends Error {
  readonly kind: Failure;
  readonly code: string;

  constructor(kind: Failure, text: string, code = "") {
    super(text);
    this.kind = kind;
    this.code = code;
  }
}

export type Fetch = (address: string, options?: RequestInit) => Promise<Response>;

const LIMIT_MILLISECONDS = 15_000;
// A piece of a file over a thin network.
const PIECE_MILLISECONDS = 60_000;

export class NodeApi {
  private readonly fetch: Fetch;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  async get<T>(path: string, query: Readonly<Record<string, string | number | undefined>> = {}): Promise<T> {
    const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const text = new URLSearchParams(asked.map(([name, value]) => [name, String(value)])).toString();
    return this.ask<T>("GET", text === "" ? path : `${path}?${text}`);
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    return this.ask<T>("POST", path, JSON.stringify(body));
  }

  async delete<T>(path: string): Promise<T> {
    return this.ask<T>("DELETE", path);
  }

  async put<T>(path: string, body: Blob): Promise<T> {
    return this.ask<T>("PUT", path, body, PIECE_MILLISECONDS);
  }

  /** A file as it is, by its own kind. */
  async send<T>(path: string, file: Blob): Promise<T> {
    return this.ask<T>("POST", path, file, PIECE_MILLISECONDS, file.type);
  }

  private async ask<T>(
    method: string,
    path: string,
    body?: string | Blob,
    limit = LIMIT_MILLISECONDS,
    kind = "",
  ): Promise<T> {
    let answer: Response;
    try {
      answer = await this.fetch(path, {
        method,
        ...(body === undefined ? {} : { body, headers: { "Content-Type": kind || typeOf(body) } }),
        cache: "no-store",
        credentials: "same-origin",
        signal: AbortSignal.timeout(limit),
      });
    } catch {
      throw new NodeFailure("unreachable", t("nodeSilent"));
    }
    if (!answer.ok) {
      throw await failureOf(answer);
    }
    return (await read(answer)) as T;
  }
}

function typeOf(body: string | Blob): string {
  return typeof body === "string" ? "application/json" : "application/octet-stream";
}

async function read(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch {
    throw new NodeFailure("unreachable", t("answerCut"));
  }
}

/** What an answer that is no success means: by its status, and by the node's own words where it has some. */
export async function failureOf(answer: Response): Promise<NodeFailure> {
  const error = await answer.json().then(
    (body: { error?: { code?: string; text?: string; details?: Record<string, unknown> } }) => body.error,
    () => undefined,
  );
  const code = error?.code ?? "";
  const text = error?.text
    ? refusal(code, error.details ?? {}, error.text)
    : t("nodeAnswered", { status: answer.status });
  // Not the node, but something before it, or the node in trouble: what was asked may be asked again.
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408 || error === undefined) {
    return new NodeFailure("unreachable", text, code);
  }
  // A read-only device is known, and named in the answer.
  return new NodeFailure(code === "not_allowed" && !error.details?.device ? "stranger" : "refused", text, code);
}
