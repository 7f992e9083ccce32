import type { StoredObject } from "@virtual-workspaces/apimachinery";
import { INITIAL_EVENTS_END } from "@virtual-workspaces/apimachinery/requests";
import { sleep } from "@virtual-workspaces/transport";
import type { ResourceClient } from "../resource/resource-client.ts";
import { Checks, IncompleteStream, UpstreamFault } from "./checked.ts";
import { Connection, Watchdog } from "./connection.ts";
import type { Counters, InformerEvent, LifecycleEvent } from "./events.ts";
import type { ReflectorOptions } from "./informer-options.ts";
import { readPages } from "./paged-list.ts";
import { Position } from "./position.ts";
import { Retries, type Round } from "./retries.ts";
import type { ObjectStore, Stage } from "./store.ts";

/** Receiver of a reflector's events. */
export interface ReflectorSink<T> {
  changes(events: readonly InformerEvent<T>[]): void;
  /** @param wasOpen whether the attempt of an event of type `error` had opened a watch */
  lifecycle(event: LifecycleEvent, wasOpen?: boolean): void;
}

export interface ReflectorParts<T extends object> extends ReflectorOptions {
  readonly resource: ResourceClient<T>;
  readonly store: ObjectStore<T>;
  readonly counters: Counters;
  readonly sink: ReflectorSink<StoredObject<T>>;
}

/** Maximum duration of all initial events, as a multiple of the deadline between two of them. */
const PATIENCE = 12;

/** Ends a watch that is due for renewal. */
class Renewal extends Error {}

/**
 * Keeps a store in step with a server (cache.Reflector). It lists everything once, by watch (WatchList) or in pages, then
 * opens one watch after another. It uses only versions of lists, events and bookmarks.
 *
 * It does not use `ListAndWatch` of the transport package, because the server may be hostile. It validates each object and
 * version, sets deadlines for streams, accepts an older version only after some time, and picks the next attempt by the kind
 * of failure ({@link Retries}).
 */
export class Reflector<T extends object> {
  readonly connection: Connection;
  readonly #parts: ReflectorParts<T>;
  readonly #checks: Checks<T>;
  readonly #position: Position;
  readonly #retries: Retries;
  readonly #select: { readonly labels?: string; readonly fields?: string };
  /** in ms */
  readonly #deadlines: { readonly renew: number; readonly idle: number; readonly initial: number };
  #synced = false;
  #everSynced = false;

  constructor(parts: ReflectorParts<T>) {
    const { labels, fields, renewEvery = 10, idle = renewEvery * 1000 + 3000, initialDeadline = 5000 } = parts;
    this.#parts = parts;
    this.#checks = new Checks(parts.resource, parts.listKind);
    this.#position = new Position(parts.rewindAfter ?? 60_000);
    this.#select = { ...(labels && { labels }), ...(fields && { fields }) };
    this.#deadlines = { renew: Math.max(1, Math.ceil(renewEvery)) * 1000, idle, initial: initialDeadline };
    const tell = (event: LifecycleEvent, wasOpen?: boolean): void => parts.sink.lifecycle(event, wasOpen);
    this.connection = new Connection(parts.counters, tell);
    this.#retries = new Retries({ position: this.#position, counters: parts.counters, backoff: parts.backoff, tell });
  }

  /** Runs until the signal aborts, and resumes at the last known version. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.#synced = false;
    this.#retries.reset();
    while (!signal.aborted) {
      const wait = await this.#round(signal);
      if (wait > 0) await sleep(wait, { signal });
    }
    this.connection.close(undefined);
  }

  /** Runs one list or watch. @returns the delay before the next one, in ms */
  async #round(signal: AbortSignal): Promise<number> {
    const { version } = this.#position;
    const way = version !== "" ? "watch" : this.#retries.streams ? "watchList" : "list";
    const began = performance.now();
    let failure: Error | undefined;
    try {
      if (way === "watch") await this.#watch(signal);
      else if (way === "list") await this.#list(signal);
      else await this.#watchList(signal);
    } catch (error) {
      if (!(error instanceof Renewal)) failure = error instanceof Error ? error : new Error(String(error));
    }
    if (signal.aborted) return 0;
    const { lived } = this.connection;
    if (failure === undefined) this.connection.pause();
    else this.connection.close(failure);
    const now = this.#position.version;
    const progressed = way === "watch" && now !== "" && now !== version;
    const round: Round = { way, failure, lived, progressed, took: performance.now() - began };
    return this.#retries.after(round);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { resource, store, counters, pageSize = 500 } = this.#parts;
    let stage = store.stage();
    let version = "";
    await readPages(resource, {
      select: this.#select,
      limit: pageSize,
      signal,
      begin: () => {
        stage = store.stage();
        version = "";
      },
      page: (list) => {
        counters.lists += 1;
        this.connection.heard();
        const read = this.#checks.list(list);
        // If later pages are newer, the first page counts: a watch from there repeats their changes.
        if (version === "") version = read;
        for (const item of list.items) store.stagePut(stage, this.#checks.object(item));
      },
      expired: () => {
        counters.expired += 1;
      },
    });
    this.#publish(stage, version);
  }

  /** Lists by watch, then continues with the same watch until its renewal. */
  async #watchList(signal: AbortSignal): Promise<void> {
    const { store } = this.#parts;
    const { initial, renew } = this.#deadlines;
    using dog = new Watchdog(signal);
    const began = performance.now();
    const late = (): Error => new IncompleteStream(`a list by watch sent nothing new for ${initial} ms`);
    const more = (): void => dog.expect(Math.min(initial, began + PATIENCE * initial - performance.now()), late);
    let stage: Stage<T> | undefined = store.stage();
    const query = {
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      timeoutSeconds: Math.ceil((PATIENCE * initial + renew) / 1000),
    } as const;
    for await (const { type, object } of this.#open(dog, { query, onOpen: more })) {
      known(type);
      if (stage === undefined) this.#follow(type, object);
      else if (type === "BOOKMARK") {
        const version = this.#checks.version(object as StoredObject<T>);
        // Other bookmarks during the list are useless: initial events have no order.
        if (object.metadata.annotations?.[INITIAL_EVENTS_END] !== "true") continue;
        this.#publish(stage, version);
        stage = undefined;
        dog.expect(renew, () => new Renewal());
      } else if (type === "DELETED") stage.delete(this.#checks.object(object as StoredObject<T>).key);
      else if (store.stagePut(stage, this.#checks.object(object as StoredObject<T>))) more();
    }
    if (stage !== undefined) throw new IncompleteStream("a list by watch ended before its final bookmark");
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { idle, renew } = this.#deadlines;
    using dog = new Watchdog(signal);
    const query = { resourceVersion: this.#position.version, timeoutSeconds: renew / 1000, idle };
    const onOpen = (): void => {
      dog.rest();
      this.#sync();
    };
    for await (const { type, object } of this.#open(dog, { query, onOpen })) this.#follow(type, object);
  }

  #open(dog: Watchdog, { query, onOpen }: { query: object; onOpen: () => void }): WatchStream<T> {
    const { resource, counters } = this.#parts;
    const { idle } = this.#deadlines;
    counters.watches += 1;
    dog.expect(idle, () => new Error(`the server did not answer a watch request within ${idle} ms`));
    return resource.watch({
      ...this.#select,
      ...query,
      signal: dog.signal,
      retries: false,
      onOpen: () => {
        this.connection.open();
        onOpen();
      },
      onBytes: (bytes) => {
        counters.bytes += bytes;
        this.connection.heard();
      },
    });
  }

  #follow(type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK", object: object): void {
    const { store, counters, sink } = this.#parts;
    known(type);
    if (type === "BOOKMARK") {
      counters.bookmarks += 1;
      this.#position.bookmark(this.#checks.version(object as StoredObject<T>));
      return;
    }
    const checked = this.#checks.object(object as StoredObject<T>);
    const events = type === "DELETED" ? store.remove(checked) : store.put(checked);
    this.#position.advance(checked.version);
    if (events.length === 0) counters.suppressed += 1;
    else sink.changes(events);
  }

  #publish(stage: Stage<T>, version: string): void {
    const { store, counters, sink } = this.#parts;
    const reason = this.#position.begin(version);
    const { events, unchanged } = store.commit(stage, !this.#everSynced);
    this.#everSynced = true;
    counters.suppressed += unchanged;
    this.#retries.read();
    if (reason !== undefined) counters.relists += 1;
    sink.changes(events);
    if (reason !== undefined) sink.lifecycle({ type: "relisted", reason });
    this.#sync();
  }

  #sync(): void {
    if (this.#synced) return;
    this.#synced = true;
    this.#parts.sink.lifecycle({ type: "synced" });
  }
}

type WatchStream<T extends object> = ReturnType<ResourceClient<T>["watch"]>;

const TYPES: ReadonlySet<string> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

/** @throws UpstreamFault for any other type */
function known(type: string): void {
  if (!TYPES.has(type)) throw new UpstreamFault(`the server sent an event of the unknown type ${JSON.stringify(type)}`);
}
