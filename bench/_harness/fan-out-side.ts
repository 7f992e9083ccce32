import assert from "node:assert/strict";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import type { Held } from "../_servers/held.ts";
import { START, tickLine, WATCH_PATH } from "../_servers/tick.ts";
import type { Watchers } from "../_servers/watchers.ts";
import { getRequest } from "./http.ts";
import type { Remote } from "./remote.ts";

/** What every server of a fan-out can be asked. */
export type Publishing = Pick<Held, "listen" | "publishOne" | "publishEvery">;

/** Whom the watchers trust, and what the servers show them. */
export interface Trust {
  readonly ca: string;
  readonly server: TlsOptions;
}

export interface SideOptions {
  readonly server: Remote<Publishing>;
  readonly watchers: Remote<Watchers>;
  readonly count: number;
  /** What they watch, up to the version; several in turn. @default the ticks of `fanout.ts` */
  readonly path?: string | readonly string[];
  /** Media types that the watchers ask for in turn. @default JSON */
  readonly accept?: readonly string[];
  /** @default plain HTTP */
  readonly trust?: Trust | undefined;
}

/** Changes under way at saturation: enough that neither side ever waits for the other. */
const WINDOW = 4;

/** A server and its watchers, one of the two that are compared. */
export class FanOutSide {
  readonly #server: Remote<Publishing>;
  readonly #watchers: Remote<Watchers>;
  readonly #count: number;
  /** Bytes of the server for each idle watcher. */
  readonly heldEach: number;
  readonly rssEach: number;
  /** Changes so far. */
  published = 0;

  private constructor(options: SideOptions, memory: { readonly held: number; readonly rss: number }) {
    this.#server = options.server;
    this.#watchers = options.watchers;
    this.#count = options.count;
    this.heldEach = memory.held / options.count;
    this.rssEach = memory.rss / options.count;
  }

  /** Connects the watchers, two users in turn, and waits until each stream has begun. */
  static async open(options: SideOptions): Promise<FanOutSide> {
    const { server, watchers, count, path = WATCH_PATH, accept = ["application/json"], trust } = options;
    watchers.on("ended", (index) => {
      throw new Error(`the server ended watch ${index}`);
    });
    const port = await server.ask("listen", trust?.server);
    const requests = [path]
      .flat()
      .flatMap((one) =>
        accept.flatMap((type) =>
          ["token-a", "token-b"].map((token) =>
            getRequest(`${one}${START}`, { Authorization: `Bearer ${token}`, Accept: type }),
          ),
        ),
      );
    const before = await server.ask("memory");
    await watchers.ask("connect", { port, requests, count, ...(trust === undefined ? {} : { ca: trust.ca }) });
    const after = await server.ask("memory");
    return new FanOutSide(options, { held: after.held - before.held, rss: after.rss - before.rss });
  }

  /** Publishes a few changes and looks at what some watchers got. @throws AssertionError */
  async check(): Promise<void> {
    await this.steady({ period: 20, changes: 3 });
    const expected = [1, 2, 3].map((n) => tickLine(n).toString()).join("");
    for (const answer of await this.#watchers.ask("seen")) assert.equal(dechunked(answer), expected);
  }

  /**
   * Publishes at a steady pace.
   *
   * @returns the 99th percentile of the time to a watcher, ms, and CPU of the server for each delivery, µs
   */
  async steady(plan: { readonly period: number; readonly changes: number }): Promise<{ p99: number; cpu: number }> {
    const { period, changes } = plan;
    this.published += changes;
    const all = this.#arrival(this.published);
    await this.#watchers.ask("time", changes);
    const before = await this.#server.ask("cpu");
    const times = await this.#server.ask("publishEvery", { period, count: changes });
    await all;
    const cpu = ((await this.#server.ask("cpu")) - before) / (changes * this.#count);
    assert.deepEqual(await this.#watchers.ask("counts"), { fewest: this.published, most: this.published });
    return { p99: await this.#watchers.ask("latency", times), cpu };
  }

  /** Deliveries per second when a next change is made as soon as one has reached everybody. */
  async saturate(milliseconds: number): Promise<{ rate: number }> {
    await this.#watchers.ask("time", 0);
    const first = this.published;
    const began = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const publish = (): void => {
      this.published += 1;
      this.#server.ask("publishOne").catch(reject);
    };
    this.#watchers.on("complete", (n) => {
      if (performance.now() - began < milliseconds) publish();
      else if (n === this.published) resolve(performance.now());
    });
    for (let n = 0; n < WINDOW; n++) publish();
    const seconds = ((await promise) - began) / 1000;
    return { rate: ((this.published - first) * this.#count) / seconds };
  }

  /** Resolves when the change `n` has reached everybody. */
  #arrival(n: number): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.on("complete", (complete) => {
        if (complete === n) resolve();
      });
    });
  }
}

/** The body of an answer in chunks. */
function dechunked(answer: string): string {
  let body = "";
  let at = answer.indexOf("\r\n\r\n") + 4;
  while (at < answer.length) {
    const from = answer.indexOf("\r\n", at) + 2;
    const length = Number.parseInt(answer.slice(at, from), 16);
    body += answer.slice(from, from + length);
    at = from + length + 2;
  }
  return body;
}
