import { isApiError, type KubeObject, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  type Controller,
  controller,
  Informer,
  keyOf,
  type LifecycleEvent,
  type ReconcileFailure,
  type ReconcileResult,
  type ResourceClient,
  related,
  systemClock,
} from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { type BackoffOptions, backoffDelay, untilAborted } from "@virtual-workspaces/transport";
import { Shard } from "../kinds/shard.ts";
import { ROOT_CLUSTER } from "../names/names.ts";
import type { PublishURLsOptions } from "./publish-options.ts";
import { keyedList, type URLList, type WantedList, wantedEntries, wholeList } from "./url-lists.ts";

const CONTROLLER = "publish-urls";
/** Number of writes of the same list after which the publisher reports that another client removes its entries. */
const SUSPICIOUS = 4;

/** Publisher of URLs until it is disposed. {@link publishURLs} creates it. */
export class PublishedURLs<T extends object = object> implements AsyncDisposable {
  /** Resolves when objects and Shards are cached and writing begins. Rejects when the publisher stops before. */
  readonly started: Promise<void>;
  readonly #options: PublishURLsOptions<T>;
  readonly #list: URLList;
  readonly #objects: Informer<T>;
  readonly #shards: Informer<object> | undefined;
  readonly #controller: Controller<ObjectOf<T>>;
  readonly #contention = new Contention();
  /** Names of deleted Shards. No other publisher removes their URLs. */
  readonly #removed = new Set<string>();
  readonly #end = (): void => void this[Symbol.asyncDispose]();
  #closed: Promise<void> | undefined;

  /** @throws Error on contradicting options */
  constructor(options: PublishURLsOptions<T>) {
    const { client, resource: kind, cluster, name, shards, condition, list = "keyed", sources = [], clock } = options;
    const manager = options.manager ?? (shards === "*" ? undefined : shards);
    if (manager === undefined || manager === "")
      throw new Error("publishURLs: no field manager: set `manager`, or set `shards` to the name of one shard");
    if (condition !== undefined && list === "keyed")
      throw new Error(
        'publishURLs: invalid `condition` for a keyed list: set `list` to "whole", or remove `condition`',
      );
    this.#options = options;
    const about = { kind, field: options.field ?? "endpoints", manager, condition, now: () => new Date() };
    this.#list = list === "keyed" ? keyedList(about) : wholeList(about);
    const place = cluster === "" ? client : client.cluster(cluster);
    this.#objects = new Informer<T>({
      resource: place.resource<T>(kind),
      ...(name !== undefined && { fields: `metadata.name=${name}` }),
    });
    this.#shards =
      shards === undefined
        ? undefined
        : new Informer<object>({ resource: client.cluster(ROOT_CLUSTER).resource<object>(Shard) });
    // This handler runs before the controller's, which then finds the name here.
    this.#shards?.on({
      added: ({ metadata }) => this.#removed.delete(metadata.name ?? ""),
      deleted: ({ metadata }) => this.#removed.add(metadata.name ?? ""),
    });
    this.#controller = controller<ObjectOf<T>>({
      name: CONTROLLER,
      sources: [
        { informer: this.#objects },
        ...(this.#shards === undefined ? [] : [related(this.#shards, () => this.#keys())]),
        ...sources,
      ],
      reconcile: (key, { object, signal }) => this.#reconcile(key, { object, signal }),
      onError: options.onError,
      ...(clock && { clock }),
    });
    this.started = this.#controller.started;
    for (const informer of [this.#objects, this.#shards]) informer?.on({ lifecycle: (event) => this.#tell(event) });
    void this.#objects.start();
    void this.#shards?.start();
    const { signal } = options;
    signal?.addEventListener("abort", this.#end, { once: true });
    if (signal?.aborted === true) this.#end();
  }

  /** Reconciles all objects again, after a change that no source reports. */
  recheck(): void {
    for (const key of this.#keys()) this.#controller.add(key);
  }

  /**
   * Removes all published URLs, then disposes the publisher. Use it for a view that goes out of service. A view that restarts
   * leaves its URLs in place: dispose the publisher instead.
   *
   * @param options.signal ends the wait for a server that is unavailable; URLs not removed by then stay
   * @throws AggregateError when removing some URLs failed, and the reason of `signal` when it aborts
   */
  async withdraw(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { signal = new AbortController().signal } = options;
    const failures: unknown[] = [];
    try {
      // The informer's sync does not observe the signal.
      await untilAborted(this.#objects.synced, signal);
      await this.#controller.stop();
      for (const object of this.#objects.store.list())
        await this.#takeBack(object, signal).catch((error: unknown) => failures.push(error));
      signal.throwIfAborted();
    } finally {
      await this[Symbol.asyncDispose]();
    }
    if (failures.length > 0) throw new AggregateError(failures, "cannot remove some URLs: see the errors");
  }

  /** Stops the publisher. Published URLs stay. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#end);
    await this.#controller.stop();
    await Promise.all([this.#objects, this.#shards].map((informer) => informer?.[Symbol.asyncDispose]()));
  }

  async #reconcile(
    key: ObjectKey,
    { object, signal }: { readonly object: ObjectOf<T> | undefined; readonly signal: AbortSignal },
  ): Promise<ReconcileResult | undefined> {
    const id = keyText(key);
    if (object === undefined) this.#contention.forget(id);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    await this.#list.release(this.#resourceOf(key), object, { managers: this.#removed, signal });
    const wanted = this.#wanted(object);
    if (wanted === undefined) return undefined;
    const change = this.#list.change(object, wanted);
    if (change !== undefined) {
      const now = this.#clock.now();
      const text = JSON.stringify("error" in wanted ? String(wanted.error) : wanted);
      const wait = this.#contention.wait(id, text, now);
      if (wait > 0) return { requeueAfter: wait };
      await this.#list.send(this.#resourceOf(key), change, signal);
      if (this.#contention.wrote(id, text, now) === SUSPICIOUS) this.#suspect(key);
    }
    if ("error" in wanted) throw wanted.error;
    return undefined;
  }

  /** Returns the result of `urls`, or its exception. */
  #wanted(object: ObjectOf<T>): WantedList | undefined {
    try {
      const given = this.#options.urls(object, this.#shardsNow());
      return given === undefined ? undefined : wantedEntries(given);
    } catch (error) {
      return { error };
    }
  }

  /** Reads the object again, since the cache may be older than the last write. */
  async #takeBack(object: KubeObject, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(object);
    const resource = this.#resourceOf(key);
    for (;;) {
      signal.throwIfAborted();
      try {
        const now = await resource.get(key.name, { signal });
        const change = now.metadata.uid === object.metadata.uid ? this.#list.change(now, []) : undefined;
        if (change !== undefined) await this.#list.send(resource, change, signal);
        return;
      } catch (error) {
        if (isApiError(error) && error.code === 404) return;
        if (!isApiError(error) || error.code !== 409) throw error;
      }
    }
  }

  #shardsNow(): readonly Shard[] {
    const { shards } = this.#options;
    const all = [...(this.#shards?.store.list() ?? [])] as Shard[];
    const followed = shards === "*" ? all : all.filter(({ metadata }) => metadata.name === shards);
    return followed.sort((one, other) => ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1));
  }

  #keys(): ObjectKey[] {
    return [...this.#objects.store.list()].map((object) => this.#keyOf(object));
  }

  #keyOf(object: KubeObject): ObjectKey {
    return keyOf(object, { clusterName: this.#options.cluster });
  }

  #resourceOf({ cluster, namespace }: ObjectKey): ResourceClient {
    const { client, resource } = this.#options;
    const place = (cluster === "" ? client : client.cluster(cluster)).resource<T>(
      resource,
    ) as unknown as ResourceClient;
    return namespace === "" ? place : place.in(namespace);
  }

  get #clock(): NonNullable<PublishURLsOptions<T>["clock"]> {
    return this.#options.clock ?? systemClock;
  }

  #suspect(key: ObjectKey): void {
    const error = new Error(
      `another client repeatedly removes the URLs of ${keyText(key)}, so the delay between writes grows: stop that client, or set \`list\` to "whole" if the list has no key "url"`,
    );
    this.#report({ error, key });
  }

  #tell(event: LifecycleEvent): void {
    if (event.type === "error") this.#report({ error: event.error, retryAfter: event.retryIn });
  }

  #report(failure: Omit<ReconcileFailure, "controller" | "attempt">): void {
    this.#options.onError({ controller: CONTROLLER, attempt: 1, ...failure });
  }
}

/**
 * Publishes the URLs of a view in the status of objects, as kcp does for its own views. The objects are APIExportEndpointSlices,
 * APIExports, or of an own kind with a list of URLs. Clients (`followEndpoints`, kcp's multicluster provider) and shards
 * (`storage.virtual`) find the view there. Each shard writes only its own entries, and removes those of a Shard whose deletion it
 * has seen. A list that is already right is not written.
 *
 * ```ts
 * publishURLs({
 *   client, resource: Menu, cluster: "root:kitchen", shards: "shard-1",
 *   urls: ({ metadata }, [shard]) => shard ? [viewURL(shard.spec?.virtualWorkspaceURL ?? "", "menus", metadata.name ?? "")] : undefined,
 *   onError: ({ error }) => console.error(error),
 * });
 * ```
 *
 * Memory: the objects, as in an informer, and some hundred bytes for each written object.
 *
 * @throws Error on contradicting options
 */
export function publishURLs<T extends object>(options: PublishURLsOptions<T>): PublishedURLs<T> {
  return new PublishedURLs(options);
}

/** Delays between writes of the same list, in ms. */
const BACKOFF: BackoffOptions = { first: 1_000, most: 300_000, jitter: [1, 1] };
/** Time after which a write of the same list counts as the first, in ms. */
const FORGOTTEN = 900_000;

interface Write {
  readonly text: string;
  readonly at: number;
  /** Number of consecutive writes of the same list. */
  readonly times: number;
}

/**
 * Keeps two writers from undoing each other's work forever. A writer that repeats a write waits, each time twice as long, up to
 * five minutes. The class remembers one write for each object.
 */
class Contention {
  readonly #writes = new Map<string, Write>();

  /** Returns the delay before a write, in ms; 0 for none. */
  wait(id: string, text: string, now: number): number {
    const last = this.#last(id, text, now);
    return last === undefined ? 0 : Math.max(0, Math.ceil(last.at + backoffDelay(last.times, BACKOFF) - now));
  }

  /** Records a write. @returns the number of consecutive writes of the same list */
  wrote(id: string, text: string, now: number): number {
    const times = (this.#last(id, text, now)?.times ?? 0) + 1;
    this.#writes.set(id, { text, at: now, times });
    return times;
  }

  forget(id: string): void {
    this.#writes.delete(id);
  }

  #last(id: string, text: string, now: number): Write | undefined {
    const last = this.#writes.get(id);
    return last !== undefined && last.text === text && now - last.at < FORGOTTEN ? last : undefined;
  }
}
