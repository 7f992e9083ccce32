import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  isStoreError,
  type ObjectFeed,
  type Outcome,
  type Store,
  type StoredPlace,
  type Transaction,
} from "@virtual-workspaces/store";
import { askedAfterNow, untilAborted } from "@virtual-workspaces/transport";
import type { StoredKind } from "../state/stored-kinds.ts";
import { AdmissionTurns } from "./admission-turns.ts";
import { KindCount, type Reservation } from "./kind-count.ts";

/** Longest time for a decision, in ms, as in Kubernetes. */
const PATIENCE = 10_000;

/** Options of {@link QuotaUsage}. */
export interface QuotaUsageOptions {
  /** Store without {@link QuotaUsage.commit}. */
  readonly store: Store;
  readonly feed: ObjectFeed;
  readonly onError: (error: unknown) => void;
}

/** Creation of an object. */
interface Creation extends Pick<Reservation, "count" | "check"> {
  readonly cluster: string;
  /** Whether it exceeds no quota by what is counted now. */
  readonly fits: () => boolean;
}

/** Window in which listeners receive a change of a place once, in milliseconds. */
const TOGETHER = 100;

/** Place in which a number of objects has changed. */
export interface UsageChange {
  readonly cluster: string;
  /** `<plural>.<group>`. */
  readonly resource: string;
  readonly namespace: string;
}

/**
 * Numbers of objects of the kinds that quotas limit, for a shard. An admitted creation is reserved until it is counted or has
 * failed, so that concurrent ones cannot exceed a quota. Where processes share the store, {@link AdmissionTurns} keeps them
 * from admitting at the same time.
 */
export class QuotaUsage implements Disposable {
  readonly #options: QuotaUsageOptions;
  /** By logical cluster and key space. */
  readonly #counts = new Map<string, Map<string, KindCount>>();
  /** Kinds with a reservation, by the object's key in the store. */
  readonly #reserved = new Map<string, KindCount>();
  /** Places that have changed since the last call of listeners, by logical cluster, resource and namespace. */
  readonly #changes = new Map<string, UsageChange>();
  #timer: NodeJS.Timeout | undefined;
  readonly #turns: AdmissionTurns | undefined;
  readonly #listeners = new Set<(change: UsageChange) => void>();
  readonly #subscription: Disposable;
  /** Resolves when everything that was written before is delivered; concurrent calls share the reads. */
  readonly #confirm = askedAfterNow(async () => {
    const { store, feed } = this.#options;
    const signal = AbortSignal.timeout(PATIENCE);
    await feed.reached(await store.head({ signal }), signal);
  });

  constructor(options: QuotaUsageOptions) {
    const { feed, store } = options;
    this.#options = options;
    const caughtUp = (revision: number, signal: AbortSignal): Promise<void> => feed.reached(revision, signal);
    this.#turns = store.shared === true ? new AdmissionTurns({ store, caughtUp }) : undefined;
    this.#subscription = feed.on({
      began: () => this.#all((count) => count.reset()),
      synced: () => this.#all((count) => count.start()),
      set: (object) => {
        if (object.isNew) this.#apply(object, 1, object.revision);
      },
      deleted: (place, revision) => this.#apply(place, -1, revision),
    });
  }

  /** Returns the number of objects of a kind in a logical cluster, which is counted from now on. */
  of(cluster: string, { definition, objects }: StoredKind): KindCount {
    const { space } = objects;
    const known = this.#counts.get(cluster)?.get(space);
    if (known !== undefined) return known;
    const resource = `${definition.plural}.${definition.group}`;
    const count = new KindCount({ resource, objects, cluster, onError: this.#options.onError });
    const others = this.#counts.get(cluster) ?? new Map<string, KindCount>();
    this.#counts.set(cluster, others.set(space, count));
    if (this.#options.feed.isSynced) count.start();
    return count;
  }

  /** Forgets the numbers of a logical cluster that are no longer needed. @param isLimited whether a quota limits a resource */
  retain(cluster: string, isLimited: (resource: string) => boolean): void {
    const counts = this.#counts.get(cluster);
    if (counts === undefined) return;
    for (const [space, count] of counts) {
      if (count.isReserved || isLimited(count.resource)) continue;
      counts.delete(space);
      count[Symbol.dispose]();
    }
    if (counts.size === 0) this.#counts.delete(cluster);
  }

  /** Registers a handler of changes, which is called at most once for each place in a tenth of a second. */
  on(changed: (change: UsageChange) => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  /**
   * Admits the creation of an object, or reports that it exceeds a quota by everything that was acknowledged before.
   * Synchronous if it fits.
   *
   * @param reserve reservation, unless this is a dry run
   * @throws ApiError of `check`; 500 when the objects cannot be counted in time
   */
  admit(
    creation: Creation,
    { signal, reserve }: { readonly signal: AbortSignal; readonly reserve: Reservation | undefined },
  ): Promise<void> | undefined {
    if (!creation.count.isReady || !creation.fits()) return this.#admitLater(creation, { signal, reserve });
    this.#reserve(reserve);
    return undefined;
  }

  async #admitLater(
    { cluster, count, fits, check }: Creation,
    { signal, reserve }: { readonly signal: AbortSignal; readonly reserve: Reservation | undefined },
  ): Promise<void> {
    if (!count.isReady) await withPatience(signal, (until) => untilAborted(count.ready, until));
    if (!fits()) await withPatience(signal, (until) => this.#refresh(cluster, count, until)).catch(unavailable);
    check();
    this.#reserve(reserve);
  }

  #reserve(reservation: Reservation | undefined): void {
    if (reservation === undefined) return;
    reservation.count.reserve(reservation);
    this.#reserved.set(reservation.id, reservation.count);
  }

  /** Ends the reservation of a write that has ended. */
  settle(reservation: Reservation): void {
    const { count, id } = reservation;
    if (reservation.revision === undefined && reservation.state !== "unknown") count.release(reservation);
    if (!count.hasOpen(id)) this.#reserved.delete(id);
  }

  /**
   * Commits a transaction. One that creates a reserved object is committed only while the object fits into its quotas.
   *
   * @throws ApiError 403 when it no longer fits, 500 when that cannot be decided in time; StoreError
   */
  commit(transaction: Transaction, options?: { readonly signal?: AbortSignal }): Promise<Outcome> {
    const reservation = this.#reserved.size === 0 ? undefined : this.#reservedFor(transaction);
    return reservation === undefined
      ? this.#options.store.commit(transaction, options)
      : this.#commitReserved(transaction, reservation);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    clearTimeout(this.#timer);
    this.#all((count) => count[Symbol.dispose]());
  }

  #all(each: (count: KindCount) => void): void {
    for (const counts of this.#counts.values()) for (const count of counts.values()) each(count);
  }

  #apply({ space, key: { cluster, namespace, name } }: StoredPlace, by: 1 | -1, revision: number): void {
    const count = this.#counts.get(cluster)?.get(space);
    if (count === undefined) return;
    count.apply({ namespace, name, by, revision });
    const place = `${cluster} ${count.resource} ${namespace}`;
    if (!this.#changes.has(place)) this.#changes.set(place, { cluster, resource: count.resource, namespace });
    this.#timer ??= setTimeout(() => this.#notify(), TOGETHER).unref();
  }

  #notify(): void {
    this.#timer = undefined;
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    for (const change of changes) for (const changed of this.#listeners) changed(change);
  }

  /** Waits until everything that was written before is counted, and writes of unknown outcome are decided. */
  async #refresh(cluster: string, count: KindCount, signal: AbortSignal): Promise<void> {
    const { unknown } = count;
    if (unknown.length > 0 && this.#turns !== undefined) await this.#turns.retake(cluster, signal);
    else await untilAborted(this.#confirm(), signal);
    for (const reservation of unknown) count.release(reservation);
    if (!count.isReady) await untilAborted(count.ready, signal);
  }

  #reservedFor({ conditions, operations }: Transaction): Reservation | undefined {
    const [operation] = operations;
    if (operation?.type !== "put" || conditions[0]?.modRevision !== 0 || operations.length !== 1) return undefined;
    return this.#reserved.get(operation.key)?.take(operation.key);
  }

  async #commitReserved(transaction: Transaction, reservation: Reservation): Promise<Outcome> {
    const { count } = reservation;
    try {
      const outcome = await (this.#turns === undefined
        ? this.#options.store.commit(transaction)
        : withPatience(undefined, (until) => this.#commitInTurn(transaction, reservation, until)));
      if (outcome.committed) count.written(reservation, outcome.revision, this.#options.feed.position);
      else count.release(reservation);
      return outcome;
    } catch (error) {
      if (isStoreError(error) && error.code === "Unknown") reservation.state = "unknown";
      else count.release(reservation);
      throw error;
    }
  }

  async #commitInTurn(
    { conditions, operations }: Transaction,
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const turns = this.#turns as AdmissionTurns;
    const { count, check } = reservation;
    const { cluster } = count;
    for (;;) {
      const turn = await turns.take(cluster, signal);
      if (!count.isReady) await untilAborted(count.ready, signal);
      // Itself is reserved: without it, the number must leave room for it.
      count.release(reservation);
      check();
      count.reserve(reservation);
      const { store } = this.#options;
      const outcome = await store.commit({ conditions: [...conditions, turn], operations });
      if (outcome.committed) turns.used(cluster);
      if (outcome.committed || outcome.current.at(-1)?.modRevision === turn.modRevision) return outcome;
      turns.lost(cluster, turn);
    }
  }
}

/** @throws ApiError 500 when the work takes too long */
async function withPatience<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(PATIENCE);
  try {
    return await work(signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (timeout.aborted && error === timeout.reason)
      throw ApiError.internalError("resource quota evaluation timed out");
    throw error;
  }
}

/** @throws ApiError 503 for an unavailable store */
function unavailable(error: unknown): never {
  throw isStoreError(error) ? ApiError.serviceUnavailable("the storage is unavailable: try again", 1) : error;
}

/** Returns a store whose creations of reserved objects stay within quotas. */
export function withinQuotas(store: Store, usage: Pick<QuotaUsage, "commit">): Store {
  return {
    name: store.name,
    ...(store.shared !== undefined && { shared: store.shared }),
    head: (options) => store.head(options),
    get: (key, options) => store.get(key, options),
    range: (range, options) => store.range(range, options),
    commit: (transaction, options) => usage.commit(transaction, options),
    watch: (range, options) => store.watch(range, options),
    compact: (revision) => store.compact(revision),
    grant: (ttl) => store.grant(ttl),
    renew: (lease) => store.renew(lease),
    revoke: (lease) => store.revoke(lease),
    remaining: (id) => store.remaining(id),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
