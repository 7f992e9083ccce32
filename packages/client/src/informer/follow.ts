import type { StoredObject } from "@virtual-workspaces/apimachinery";
import { abortable, sleep } from "@virtual-workspaces/transport";
import type { ResourceClient } from "../resource/resource-client.ts";
import { Checks } from "./checked.ts";
import { Connection, Watchdog } from "./connection.ts";
import type { RelistReason } from "./events.ts";
import { counters } from "./events.ts";
import { checkOptions, type ReflectorOptions } from "./informer-options.ts";
import { readPages } from "./paged-list.ts";
import { Position } from "./position.ts";
import { Retries } from "./retries.ts";

/** Event of {@link follow}. `version` is where to resume once the event was processed. */
export type FollowEvent<T> =
  /** Start of a complete list, which replaces all earlier state. `reason` is the reason of a relist, missing the first time. */
  | { readonly type: "READ"; readonly reason?: RelistReason }
  /** Between `READ` and `SYNCED`: an existing object, with the version of the list. Later: a change of one object. */
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: StoredObject<T>; readonly version: string }
  /** End of the list. */
  | { readonly type: "SYNCED"; readonly version: string }
  /** No other changes up to this version. */
  | { readonly type: "BOOKMARK"; readonly version: string };

/** Slot of a limit on concurrent lists. Disposing it returns it; disposing it again has no effect. */
export interface Slot extends Disposable {
  /** Called at the first response: the slot no longer waits, but holds data. */
  begun(): void;
}

/** Options of {@link follow}. */
export interface FollowOptions extends Omit<ReflectorOptions, "initialDeadline"> {
  /** Version at which to resume: the `version` of an event. @default list everything */
  readonly resourceVersion?: string;
  /** Ends the iteration, which throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called for each failed attempt, with the delay before the next one, in ms. */
  readonly onError: (error: Error, retryIn: number) => void;
  /**
   * Acquires a slot before the first connection and before each list. The slot is held until the list was delivered.
   * @default no limit
   */
  readonly slot?: (signal: AbortSignal) => Promise<Slot>;
}

/**
 * Lists and watches a kind like an {@link Informer}, but without a cache. It survives broken connections and unavailable
 * servers. If it cannot resume without a gap, it lists everything again and sends `READ`; deletions in the gap have no events
 * of their own. The reader sets the pace, and unread events wait at the server.
 *
 * Memory: the objects of a list, from the request until they were delivered.
 *
 * @throws Error for an option out of range
 */
export function follow<T extends object>(
  resource: ResourceClient<T>,
  options: FollowOptions,
): AsyncGenerator<FollowEvent<T>, void, undefined> {
  checkOptions(options);
  return abortable(options.signal, (signal) => new Following(resource, options, signal).events());
}

class Following<T extends object> {
  readonly #resource: ResourceClient<T>;
  readonly #options: FollowOptions;
  readonly #signal: AbortSignal;
  readonly #checks: Checks<T>;
  readonly #position: Position;
  readonly #connection: Connection;
  readonly #retries: Retries;
  readonly #select: { readonly labels?: string; readonly fields?: string };
  #begun = false;

  constructor(resource: ResourceClient<T>, options: FollowOptions, signal: AbortSignal) {
    const { labels, fields, backoff, onError, rewindAfter = 60_000, resourceVersion = "" } = options;
    this.#resource = resource;
    this.#options = options;
    this.#signal = signal;
    this.#checks = new Checks(resource, options.listKind);
    this.#position = new Position(rewindAfter);
    if (resourceVersion !== "") this.#position.advance(resourceVersion);
    this.#select = { ...(labels && { labels }), ...(fields && { fields }) };
    const counts = counters();
    this.#connection = new Connection(counts, () => undefined);
    this.#retries = new Retries({
      position: this.#position,
      counters: counts,
      backoff,
      tell: (event) => event.type === "error" && onError(event.error, event.retryIn),
    });
  }

  async *events(): AsyncGenerator<FollowEvent<T>, void, undefined> {
    for (;;) {
      this.#signal.throwIfAborted();
      const { version } = this.#position;
      const way = version === "" ? "list" : "watch";
      const began = performance.now();
      let failure: Error | undefined;
      try {
        yield* way === "list" ? this.#list() : this.#watch();
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
      this.#signal.throwIfAborted();
      const { lived } = this.#connection;
      this.#connection.pause();
      const now = this.#position.version;
      const progressed = way === "watch" && now !== "" && now !== version;
      const wait = this.#retries.after({ way, failure, lived, progressed, took: performance.now() - began });
      if (wait > 0) await sleep(wait, { signal: this.#signal });
    }
  }

  async *#list(): AsyncGenerator<FollowEvent<T>, void, undefined> {
    using slot = await this.#options.slot?.(this.#signal);
    const { pageSize = 500 } = this.#options;
    let objects: StoredObject<T>[] = [];
    let version = "";
    await readPages(this.#resource, {
      select: this.#select,
      limit: pageSize,
      signal: this.#signal,
      expired: () => undefined,
      begin: () => {
        objects = [];
        version = "";
      },
      page: (list) => {
        slot?.begun();
        const read = this.#checks.list(list);
        if (version === "") version = read;
        for (const item of list.items) objects.push(this.#checks.object(item).object);
      },
    });
    const reason = this.#position.begin(version);
    this.#begun = true;
    this.#retries.read();
    yield { type: "READ", ...(reason && { reason }) };
    for (const object of objects) yield { type: "ADDED", object, version };
    objects = [];
    slot?.[Symbol.dispose]();
    yield { type: "SYNCED", version };
  }

  async *#watch(): AsyncGenerator<FollowEvent<T>, void, undefined> {
    const { renewEvery = 10, idle = renewEvery * 1000 + 3000 } = this.#options;
    using slot = this.#begun ? undefined : await this.#options.slot?.(this.#signal);
    using dog = new Watchdog(this.#signal);
    dog.expect(idle, () => new Error(`the server did not answer a watch request within ${idle} ms`));
    const watch = this.#resource.watch({
      ...this.#select,
      resourceVersion: this.#position.version,
      timeoutSeconds: Math.max(1, Math.ceil(renewEvery)),
      idle,
      signal: dog.signal,
      retries: false,
      onOpen: () => {
        dog.rest();
        slot?.[Symbol.dispose]();
        this.#begun = true;
        this.#connection.open();
      },
    });
    for await (const { type, object } of watch) {
      if (type === "BOOKMARK") {
        this.#position.bookmark(this.#checks.version(object as StoredObject<T>));
        yield { type, version: this.#position.version };
      } else {
        const checked = this.#checks.object(object);
        this.#position.advance(checked.version);
        yield { type, object: checked.object, version: this.#position.version };
      }
    }
  }
}
