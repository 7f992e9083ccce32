// Administrator's client of a shard in a separate server process, which may be killed at any moment.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { Start } from "../../../cli/support/start.ts";

/** Object in tests. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
export type Body = any;

export interface Told {
  readonly status: number;
  readonly body: Body;
}

/** Longest wait for a condition, in milliseconds. */
const PATIENCE = 60_000;

/** Client of one server, with persistent connections. */
export class Admin implements Disposable {
  readonly url: string;
  readonly #agent: Agent;
  readonly #token: string;

  constructor(server: Pick<Start, "url" | "text" | "token">) {
    this.url = server.url;
    this.#token = server.token("shard-admin");
    this.#agent = new Agent({ keepAlive: true, ca: server.text("apiserver.crt") });
  }

  /** Rejects when the server goes away before the response is complete. */
  async send(method: string, path: string, body?: object): Promise<Told> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { authorization: `Bearer ${this.#token}`, ...(body && { "content-type": type }) };
    const req = request(this.url + path, { method, agent: this.#agent, headers });
    req.end(body && JSON.stringify(body));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    let text = "";
    for await (const piece of res.setEncoding("utf8")) text += piece;
    return { status: res.statusCode ?? 0, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  get(path: string): Promise<Told> {
    return this.send("GET", path);
  }

  /** Sends a request that must succeed, and returns its response. */
  async ok(method: string, path: string, body?: object): Promise<Body> {
    const told = await this.send(method, path, body);
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${JSON.stringify(told.body)}`);
    return told.body;
  }

  /** Repeats a request until the response is as expected. */
  async until(path: string, is: (told: Told) => boolean, within = PATIENCE): Promise<Told> {
    const deadline = performance.now() + within;
    for (;;) {
      const told = await this.get(path);
      if (is(told)) return told;
      if (performance.now() > deadline) throw new Error(`${path} stays ${told.status} ${textOf(told, is)}`);
      await delay(10);
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** Returns the unexpected items of a list response. */
function textOf({ status, body }: Told, is: (told: Told) => boolean): string {
  const items: readonly Body[] = body.items ?? [];
  const wrong = items.filter((one) => !is({ status, body: { ...body, items: [one] } }));
  return JSON.stringify(wrong.length > 0 ? wrong : body);
}
