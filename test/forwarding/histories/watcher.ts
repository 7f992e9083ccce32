// Client that watches like an informer: it lists or requests initial events, resumes after disconnects at its last version,
// and restarts after 410. It checks each event on arrival.
import { expect } from "chai";
import type { CallOptions, PlainServer, WatchEvent, WatchStream } from "../../_support/plain.ts";
import type { Random } from "../../_support/random.ts";

/** Path and user of a watcher. */
export interface Place {
  /** Ends with `?` or `&`. */
  readonly path: string;
  readonly user: NonNullable<CallOptions["user"]>;
}

type Item = WatchEvent["object"];
export type State = Map<string, Item>;

export const keyOf = ({ metadata }: Item): string =>
  [metadata.annotations?.["kcp.io/cluster"], metadata.namespace, metadata.name].join("/");

/** Called for each change at a version that the server sent after the earlier ones. */
export type OnEvent = (watcher: Watcher, event: WatchEvent) => void;
/** Called before a list; the result is called with the items. @throws for an invalid list */
export type OnList = (place: Place) => (items: readonly Item[]) => void;

interface Told {
  readonly onEvent: OnEvent;
  readonly onList: OnList;
}

const STARTS = ["", "resourceVersion=0&", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&", "list"] as const;

export class Watcher {
  readonly place: Place;
  state: State = new Map();
  /** Version at which to resume; `undefined` until all initial objects have arrived. */
  version: string | undefined;
  /** Numbers of starts and resumes. */
  readonly counts = { begun: 0, resumed: 0, events: 0 };
  /** Log for the analysis of a failure. */
  readonly log: string[] = [];
  readonly #server: PlainServer;
  readonly #random: Random;
  readonly #told: Told;
  /** Listed states by version, until events reach them. */
  readonly #listed = new Map<string, State>();
  #stream: WatchStream | undefined;
  #running: Promise<void> = Promise.resolve();
  #wanted = false;
  #failure: unknown;

  constructor(server: PlainServer, place: Place, { random, ...told }: Told & { readonly random: Random }) {
    this.#server = server;
    this.place = place;
    this.#random = random;
    this.#told = told;
  }

  get isConnected(): boolean {
    return this.#wanted;
  }

  connect(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#running = this.#running
      .then(() => this.#follow())
      .catch((error: unknown) => {
        this.#failure ??= error;
      });
  }

  async disconnect(): Promise<void> {
    this.#wanted = false;
    await this.#stream?.[Symbol.asyncDispose]();
    await this.#running;
    this.check();
  }

  /** @throws the first inconsistent event */
  check(): void {
    if (this.#failure === undefined) return;
    const told = this.#failure instanceof Error ? this.#failure.message : String(this.#failure);
    throw new Error(
      `a watcher of ${this.place.path} as ${this.place.user}: ${told}\n  ${this.log.slice(-30).join("\n  ")}`,
    );
  }

  async list(): Promise<{ state: State; version: string; status: number; warning: string | undefined }> {
    const { user, path } = this.place;
    const check = this.#told.onList(this.place);
    const { status, body, headers } = await this.#server.get(path, { user });
    const items: Item[] = status === 200 ? body.items : [];
    const version = status === 200 ? body.metadata.resourceVersion : "0";
    check(items);
    const state = new Map(items.map((item) => [keyOf(item), item]));
    if (status === 200) this.#agree(version, state);
    return {
      status,
      state,
      version,
      warning: headers["warning"] as string | undefined,
    };
  }

  /** A list and a watch at the same version must agree. */
  #agree(version: string, state: State): void {
    if (this.version === version) expectSame(this.state, state, version);
    else this.#listed.set(version, state);
  }

  async #follow(): Promise<void> {
    while (this.#wanted) {
      if (this.version === undefined) await this.#begin();
      else await this.#watch(`resourceVersion=${this.version}&`, "resumed");
    }
  }

  async #begin(): Promise<void> {
    const how = this.#random.pick(STARTS);
    this.state = new Map();
    if (how !== "list") return this.#watch(how, "begun");
    const { status, state, version } = await this.list();
    if (status !== 200) return pause();
    this.log.push(`list at ${version}`);
    this.state = state;
    this.version = version;
    return this.#watch(`resourceVersion=${version}&`, "begun");
  }

  async #watch(from: string, count: "begun" | "resumed"): Promise<void> {
    const { user, path } = this.place;
    let stream: WatchStream;
    try {
      stream = await this.#server.watch(`${path}watch=true&allowWatchBookmarks=true&${from}`, { user });
    } catch {
      return pause();
    }
    this.#stream = stream;
    this.log.push(`watch ${from} ${stream.status}`);
    try {
      if (stream.status === 403) this.#forget();
      if (stream.status !== 200) return await pause();
      this.counts[count] += 1;
      while (this.#wanted) {
        const event = await next(stream);
        if (event === undefined || !this.#apply(event)) return;
      }
    } finally {
      await stream[Symbol.asyncDispose]();
    }
  }

  /** A client without permission starts again. */
  #forget(): void {
    this.state = new Map();
    this.version = undefined;
  }

  /** @returns whether the stream continues */
  #apply(event: WatchEvent): boolean {
    const { type, object } = event;
    if (type === "ERROR") {
      this.log.push(`ERROR ${object.code}`);
      expect(object.code).to.equal(410);
      this.version = undefined;
      return false;
    }
    const { resourceVersion = "" } = object.metadata;
    if (type === "BOOKMARK") {
      this.#advance(resourceVersion, "bookmark");
      return true;
    }
    const key = keyOf(object);
    this.counts.events += 1;
    this.log.push(`${type} ${key} at ${resourceVersion}`);
    expect(type).to.be.oneOf(["ADDED", "MODIFIED", "DELETED"]);
    expect(this.state.has(key), `${type} ${key}, which was ${this.state.has(key) ? "" : "not "}known`).to.equal(
      type !== "ADDED",
    );
    if (type === "DELETED") this.state.delete(key);
    else this.state.set(key, object);
    if (this.version === undefined) return true;
    this.#advance(resourceVersion, "event");
    this.#told.onEvent(this, event);
    return true;
  }

  #advance(version: string, by: "bookmark" | "event"): void {
    if (this.version !== undefined) {
      const apart = BigInt(version) - BigInt(this.version);
      expect(by === "event" ? apart > 0n : apart >= 0n, `${by} at ${version} behind ${this.version}`).to.equal(true);
    }
    this.version = version;
    const listed = this.#listed.get(version);
    if (listed === undefined) return;
    expectSame(this.state, listed, version);
    this.#listed.delete(version);
  }
}

function expectSame(watched: State, listed: State, version: string): void {
  const sorted = (state: State): unknown[] => [...state].sort(([one], [other]) => (one < other ? -1 : 1));
  expect(sorted(watched), `watched up to ${version}, and listed there`).to.deep.equal(sorted(listed));
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

async function next(stream: WatchStream): Promise<WatchEvent | undefined> {
  try {
    return await stream.next();
  } catch {
    return undefined;
  }
}
