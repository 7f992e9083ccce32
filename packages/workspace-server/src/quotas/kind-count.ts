import { isApiError } from "@virtual-workspaces/apimachinery";
import { backoffDelay, retry } from "@virtual-workspaces/transport";
import type { StoredObjects } from "../state/stored-kinds.ts";

/** Object whose creation is admitted and not yet counted. */
export interface Reservation {
  readonly count: KindCount;
  readonly namespace: string;
  /** Key of the object in the store. */
  readonly id: string;
  /** @throws ApiError 403 when the object exceeds a quota by what is counted now */
  readonly check: () => void;
  /** `open` until its write has begun. `unknown`: the store has not said whether it was written. */
  state: "open" | "writing" | "unknown";
  /** Revision of its write. */
  revision?: number;
}

/** Event of an object of the kind. */
interface Counted {
  readonly namespace: string;
  readonly name: string;
  readonly by: 1 | -1;
  readonly revision: number;
}

type CountedObjects = Pick<StoredObjects, "countIn" | "space">;

/** Backoff of counting while the store is unavailable, in ms. */
const RETRY = { first: 100, most: 10_000, jitter: [0.5, 1] } as const;

/**
 * Number of objects of a kind in a logical cluster: counted once in the store, then kept by events. Takes memory for each
 * namespace, and none for each object.
 */
export class KindCount {
  /** `<plural>.<group>`. */
  readonly resource: string;
  readonly cluster: string;
  readonly #objects: CountedObjects;
  readonly #failed: (error: unknown) => void;
  #byNamespace = new Map<string, number>();
  #total = 0;
  /** Events since the start of a count, until it ends. */
  #meanwhile: Counted[] | undefined;
  #ready = Promise.withResolvers<void>();
  #isReady = false;
  /** Revision of the count: the feed may deliver earlier events later. */
  #after = 0;
  #attempt = new AbortController();
  /** By key: only one of several creations of a name can succeed. */
  readonly #reserved = new Map<string, Reservation[]>();
  readonly #reservedIn = new Map<string, number>();

  constructor(of: {
    readonly resource: string;
    readonly objects: CountedObjects;
    readonly cluster: string;
    readonly onError: (error: unknown) => void;
  }) {
    this.resource = of.resource;
    this.#objects = of.objects;
    this.cluster = of.cluster;
    this.#failed = of.onError;
  }

  /** Resolves when the objects are counted. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get isReserved(): boolean {
    return this.#reserved.size > 0;
  }

  /** Returns the number of stored objects. @param namespace `undefined` for all */
  stored(namespace: string | undefined): number {
    return namespace === undefined ? this.#total : (this.#byNamespace.get(namespace) ?? 0);
  }

  /** Returns the number of stored objects and of those that are about to be. @param namespace `undefined` for all */
  expected(namespace: string | undefined): number {
    const coming = namespace === undefined ? this.#reserved.size : (this.#reservedIn.get(namespace) ?? 0);
    return this.stored(namespace) + coming;
  }

  /** Forgets the number, since events were lost or may be. {@link start} counts again. */
  reset(): void {
    this.#attempt.abort();
    if (this.#isReady) this.#ready = Promise.withResolvers<void>();
    this.#isReady = false;
    this.#meanwhile = undefined;
  }

  /** Counts the objects, with retries. Events from now on must be passed to {@link apply}. */
  start(): void {
    this.reset();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const delayAfter = (error: unknown, failures: number): number => {
      // An unavailable store is reported by others.
      if (!isApiError(error)) this.#failed(error);
      return backoffDelay(failures, RETRY);
    };
    const policy = { delayAfter, signal: attempt.signal, ref: false };
    retry(() => this.#count(attempt.signal), policy).catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#attempt.abort();
  }

  async #count(signal: AbortSignal): Promise<void> {
    this.#meanwhile = [];
    const { revision, byNamespace } = await this.#objects.countIn(this.cluster, { signal });
    if (signal.aborted) return;
    this.#byNamespace = byNamespace;
    this.#total = [...byNamespace.values()].reduce((sum, count) => sum + count, 0);
    for (const reservation of [...this.#reserved.values()].flat())
      if (reservation.revision !== undefined && reservation.revision <= revision) this.release(reservation);
    const later = this.#meanwhile.filter((event) => event.revision > revision);
    this.#meanwhile = undefined;
    for (const event of later) this.#add(event);
    this.#after = revision;
    this.#isReady = true;
    this.#ready.resolve();
  }

  /** Counts a created or deleted object. */
  apply(event: Counted): void {
    if (this.#meanwhile !== undefined) this.#meanwhile.push(event);
    else if (this.#isReady && event.revision > this.#after) this.#add(event);
  }

  #add({ namespace, name, by, revision }: Counted): void {
    const count = (this.#byNamespace.get(namespace) ?? 0) + by;
    if (count > 0) this.#byNamespace.set(namespace, count);
    else this.#byNamespace.delete(namespace);
    this.#total += by;
    if (by < 0 || this.#reserved.size === 0) return;
    const reserved = this.#reserved.get(this.keyOf(namespace, name));
    const written = reserved?.find((reservation) => reservation.revision === revision);
    if (written !== undefined) this.release(written);
  }

  /** Returns the key of an object in the store. */
  keyOf(namespace: string, name: string): string {
    return `${this.#objects.space}/${this.cluster}/${namespace}/${name}`;
  }

  /** Whether a reservation waits for its write. */
  hasOpen(id: string): boolean {
    return this.#reserved.get(id)?.some(({ state }) => state === "open") === true;
  }

  reserve(reservation: Reservation): void {
    const { id, namespace } = reservation;
    const known = this.#reserved.get(id);
    if (known !== undefined) known.push(reservation);
    else {
      this.#reserved.set(id, [reservation]);
      this.#reservedIn.set(namespace, (this.#reservedIn.get(namespace) ?? 0) + 1);
    }
  }

  /** Returns the reservation for a write that begins. */
  take(id: string): Reservation | undefined {
    const found = this.#reserved.get(id)?.find(({ state }) => state === "open");
    if (found !== undefined) found.state = "writing";
    return found;
  }

  /** Keeps the revision of a write until it is counted. @param position revision up to which events have been applied */
  written(reservation: Reservation, revision: number, position: number): void {
    reservation.revision = revision;
    if (this.#isReady && revision <= Math.max(this.#after, position)) this.release(reservation);
  }

  /** Removes a reservation, if it is still there. */
  release(reservation: Reservation): void {
    const { id, namespace } = reservation;
    const known = this.#reserved.get(id);
    if (known?.includes(reservation) !== true) return;
    const others = known.filter((other) => other !== reservation);
    if (others.length > 0) {
      this.#reserved.set(id, others);
      return;
    }
    this.#reserved.delete(id);
    const left = (this.#reservedIn.get(namespace) ?? 0) - 1;
    if (left > 0) this.#reservedIn.set(namespace, left);
    else this.#reservedIn.delete(namespace);
  }

  /** Returns the reservations whose writes have an unknown outcome. */
  get unknown(): readonly Reservation[] {
    return [...this.#reserved.values()].flat().filter(({ state }) => state === "unknown");
  }
}
