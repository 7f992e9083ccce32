// Server of notes that answers each request as a test defines.
import type { ServerResponse } from "node:http";
import { type Listener, startListener } from "../../_support/listener.ts";

export interface Asked {
  readonly way: "list" | "watchList" | "watch";
  readonly query: URLSearchParams;
  /** Number of earlier requests of this type. */
  readonly nth: number;
  readonly at: number;
}

export type Answerer = (asked: Asked, answer: Answering) => void;

/** Answers of a script. */
export class Answering {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  json(body: unknown, code = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.#res.writeHead(code, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  }

  /** Sends an error in Kubernetes' form. */
  status(code: number, reason: string, headers?: Readonly<Record<string, string>>): void {
    this.json(status(code, reason), code, headers);
  }

  /** Sends a list of names with their versions. */
  list(version: string, names: Readonly<Record<string, string>>, more: object = {}): void {
    const items = Object.entries(names).map(([name, at]) => note(name, at));
    this.json({ apiVersion: "test.dev/v1", kind: "NoteList", metadata: { resourceVersion: version, ...more }, items });
  }

  /** Sends events of a watch, which stays open. */
  events(...events: readonly unknown[]): this {
    if (!this.#res.headersSent) this.#res.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
    for (const event of events) this.#res.write(`${JSON.stringify(event)}\n`);
    return this;
  }

  end(): void {
    this.#res.end();
  }
}

export class Scripted implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #listener: Listener;

  private constructor(listener: Listener, asked: Asked[]) {
    this.#listener = listener;
    this.asked = asked;
  }

  get port(): number {
    return Number(new URL(this.#listener.url).port);
  }

  /** Returns the number of requests of a type. */
  count(way: Asked["way"]): number {
    return this.asked.filter((asked) => asked.way === way).length;
  }

  static async start(answer: Answerer): Promise<Scripted> {
    const asked: Asked[] = [];
    const listener = await startListener((req, res) => {
      const query = new URL(req.url ?? "", "http://x").searchParams;
      const way =
        query.get("watch") === null ? "list" : query.get("sendInitialEvents") === "true" ? "watchList" : "watch";
      const nth = asked.filter((before) => before.way === way).length;
      const now = { way, query, nth, at: performance.now() } as const;
      asked.push(now);
      answer(now, new Answering(res));
    });
    return new Scripted(listener, asked);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
  }
}

export function note(name: string, version: string, more: object = {}): object {
  const metadata = { name, resourceVersion: version, uid: `uid-${name}` };
  return { apiVersion: "test.dev/v1", kind: "Note", metadata, ...more };
}

export function status(code: number, reason: string): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `scripted ${reason}`,
    reason,
    code,
  };
}

export const added = (name: string, version: string) => ({ type: "ADDED", object: note(name, version) });
export const modified = (name: string, version: string) => ({ type: "MODIFIED", object: note(name, version) });
export const expired = { type: "ERROR", object: status(410, "Expired") };

export function bookmark(version: string, end = false): object {
  const annotations = end ? { "k8s.io/initial-events-end": "true" } : undefined;
  return {
    type: "BOOKMARK",
    object: { apiVersion: "test.dev/v1", kind: "Note", metadata: { resourceVersion: version, annotations } },
  };
}
