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
/** How often the same is written before it is told that somebody takes it away. */
const SUSPICIOUS = 4;

/** URLs that are published, for as long as this is not disposed of. Made by {@link publishURLs}. */
export class PublishedURLs<T extends object = object> implements AsyncDisposable {
  /** Resolves when objects and Shards are known, and writing begins. Rejects when it ends before. */
  readonly started: Promise<void>;
  readonly #options: PublishURLsOptions<T>;
  readonly #list: URLList;
  readonly #objects: Informer<T>;
  readonly #shards: Informer<object> | undefined;
  readonly #controller: Controller<ObjectOf<T>>;
  readonly #contention = new Contention();
  /** Shards that were there, and have been deleted: nobody else takes back what they have published. */
  readonly #removed = new Set<string>();
  readonly #end = (): void => void this[Symbol.asyncDispose]();
  #closed: Promise<void> | undefined;

  /** @throws Error on options that contradict each other */
  constructor(options: PublishURLsOptions<T>) {
    const { client, resource: kind, cluster, name, shards, condition, list = "keyed", sources = [], clock } = options;
    const manager = options.manager ?? (shards === "*" ? undefined : shards);
    if (manager === undefined || manager === "")
      throw new Error("publishURLs: say by `manager` whose the entries are, or by `shards` the name of one shard");
    if (condition !== undefined && list === "keyed")
      throw new Error(
        "publishURLs: `condition` is for a list that is `whole`: of a keyed one several say what is right",
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
    // Told before the controller is, which then finds it here.
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

  /** Looks at all objects again, for a reason that no source knows of. */
  recheck(): void {
    for (const key of this.#keys()) this.#controller.add(key);
  }

  /**
   * Takes back everything that was published, and ends: for a view that is taken out of service. One that stops to start again leaves
   * its URLs where they are, by being disposed of.
   *
   * @param options.signal ends the waiting for a server that is not there; what has not been taken back by then stays
   * @throws AggregateError when something could not be taken back, and what `signal` aborts with
   */
  async withdraw(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { signal = new AbortController().signal } = options;
    const failures: unknown[] = [];
    try {
      // A server that does not come does not know of the signal.
      await untilAborted(this.#objects.synced, signal);
      await this.#controller.stop();
      for (const object of this.#objects.store.list())
        await this.#takeBack(object, signal).catch((error: unknown) => failures.push(error));
      signal.throwIfAborted();
    } finally {
      await this[Symbol.asyncDispose]();
    }
    if (failures.length > 0) throw new AggregateError(failures, "not all URLs could be taken back");
  }

  /** Ends; what is published stays. */
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

  /** What `urls` says; what it threw. */
  #wanted(object: ObjectOf<T>): WantedList | undefined {
    try {
      const given = this.#options.urls(object, this.#shardsNow());
      return given === undefined ? undefined : wantedEntries(given);
    } catch (error) {
      return { error };
    }
  }

  /** What is followed may be older than what was written last. */
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
      `the URLs of ${keyText(key)} are taken away again and again, and each time it is waited longer: somebody else writes that list, or it has no key "url" and is to be published as \`whole\``,
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
 * Says in the status of objects at which URLs a view is, as kcp does for its own: for an APIExportEndpointSlice, an
 * APIExport, or a kind of one's own with a list of URLs, by which clients (`followEndpoints`, kcp's multicluster provider) and
 * shards (`storage.virtual`) find it. Each shard publishes for itself, and nobody touches another's entries, but those of a shard
 * whose Shard it has seen being deleted; what is right already is not written.
 *
 * ```ts
 * publishURLs({
 *   client, resource: Menu, cluster: "root:kitchen", shards: "shard-1",
 *   urls: ({ metadata }, [shard]) => shard ? [viewURL(shard.spec?.virtualWorkspaceURL ?? "", "menus", metadata.name ?? "")] : undefined,
 *   onError: ({ error }) => console.error(error),
 * });
 * ```
 *
 * Memory: the objects, as an informer has them, and some hundred bytes for each that was written.
 *
 * @throws Error on options that contradict each other
 */
export function publishURLs<T extends object>(options: PublishURLsOptions<T>): PublishedURLs<T> {
  return new PublishedURLs(options);
}

/** Between two writes of the same, ms. */
const BACKOFF: BackoffOptions = { first: 1_000, most: 300_000, jitter: [1, 1] };
/** After so long a write of the same is a new one, ms. */
const FORGOTTEN = 900_000;

interface Write {
  readonly text: string;
  readonly at: number;
  /** How often the same was written in a row. */
  readonly times: number;
}

/**
 * Keeps two writers from undoing each other's work without end: who writes the same again, because it is not there any more, waits,
 * each time twice as long, up to five minutes. It remembers one write for each object that has been written.
 */
class Contention {
  readonly #writes = new Map<string, Write>();

  /** How long a write has to wait, ms; 0 if it need not. */
  wait(id: string, text: string, now: number): number {
    const last = this.#last(id, text, now);
    return last === undefined ? 0 : Math.max(0, Math.ceil(last.at + backoffDelay(last.times, BACKOFF) - now));
  }

  /** Notes a write. @returns how often the same has been written now */
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
