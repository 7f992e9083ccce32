import type { ObjectOf } from "@virtual-workspaces/apimachinery";
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

/** What {@link follow} tells. `version` is where to go on from, once it has been taken in. */
export type FollowEvent<T> =
  /** Everything has been read, and comes next: whatever was known before is void. `reason` says why it was read again; there is none the first time. */
  | { readonly type: "READ"; readonly reason?: RelistReason }
  /** Between `READ` and `SYNCED` an object that is there, with the version of all that was read; later one that has come, changed or gone. */
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ObjectOf<T>; readonly version: string }
  /** Everything that was read has been told. */
  | { readonly type: "SYNCED"; readonly version: string }
  /** Nothing else has happened up to here. */
  | { readonly type: "BOOKMARK"; readonly version: string };

/** A place among those who begin to read; it is given back when it is disposed of, which may be twice. */
export interface Slot extends Disposable {
  /** An answer is there: it is not waited for any more, but held. */
  begun(): void;
}

/** How a server is followed without a copy: {@link follow}. */
export interface FollowOptions extends Omit<ReflectorOptions, "initialDeadline"> {
  /** Where it goes on from: what `version` of an event said. @default everything is read */
  readonly resourceVersion?: string;
  /** Ends it; its reason is thrown then. */
  readonly signal?: AbortSignal;
  /** Told of each attempt that failed, and after how many ms the next one comes. */
  readonly onError: (error: Error, retryIn: number) => void;
  /** Waited for before a connection is first made, and before everything is read: what is read is held until it has been told. @default at once */
  readonly slot?: (signal: AbortSignal) => Promise<Slot>;
}

/**
 * What there is, and then what happens, for as long as it is not ended: what an {@link Informer} does, without a copy. It goes on over
 * connections that end and servers that are away; where it cannot go on truthfully it reads everything anew, and says so (`READ`). It cannot
 * know what is gone then. It goes at the reader's pace, and what is not read waits at the server.
 *
 * Memory: what is there, as objects, from when it has been read until it has been told.
 *
 * @throws Error on an option that is out of its bounds
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
    let objects: ObjectOf<T>[] = [];
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
    dog.expect(idle, () => new Error(`the server did not begin to answer a watch within ${idle} ms`));
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
        this.#position.bookmark(this.#checks.version(object as ObjectOf<T>));
        yield { type, version: this.#position.version };
      } else {
        const checked = this.#checks.object(object);
        this.#position.advance(checked.version);
        yield { type, object: checked.object, version: this.#position.version };
      }
    }
  }
}
