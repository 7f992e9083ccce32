import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Awaitable, Encoded, ObjectBackend, Swapped, SwapTerms } from "@virtual-workspaces/framework/storage";
import type { Entry, Lease, Operation, Store } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { withApiErrors } from "./api-errors.ts";
import type { Entries } from "./entries.ts";
import type { ObjectKeys } from "./keys.ts";
import type { PendingObject, Records } from "./record.ts";

/** Store, keys and encoding of a kind. */
export interface StoredKind {
  readonly store: Store;
  readonly keys: ObjectKeys;
  readonly records: Records;
  readonly entries: Entries;
}

/** Backend of a kind in a store. Resource versions are the store's revisions. */
export class StoreBackend implements ObjectBackend {
  readonly #kind: StoredKind;
  readonly #ttl: number | undefined;

  /** @param ttl time to live of an object after its last write, in seconds */
  constructor(kind: StoredKind, ttl: number | undefined) {
    this.#kind = kind;
    this.#ttl = ttl;
  }

  get(key: ObjectKey): Awaitable<Encoded | undefined> {
    const { store, keys } = this.#kind;
    return withApiErrors(() => {
      const entry = store.get(keys.of(key));
      return entry instanceof Promise ? entry.then((found) => this.#read(found)) : this.#read(entry);
    });
  }

  async all(part: Omit<ObjectKey, "name">): Promise<Encoded[]> {
    const { store, keys, entries } = this.#kind;
    const found = await withApiErrors(() => store.range(keys.within(part)));
    return found.entries.map((entry) => entries.read(entry));
  }

  async swap(key: ObjectKey, next: KubeObject | undefined, { version, most }: SwapTerms): Promise<Swapped> {
    if (!/^(?:[1-9]\d{0,15})?$/.test(version)) return { kind: "stale", current: await this.get(key) };
    const pending = next === undefined ? undefined : this.#kind.records.prepare(key, next);
    if (pending !== undefined && pending.length > most) return { kind: "large", length: pending.length };
    return withApiErrors(() => this.#commit(key, pending, Number(version)));
  }

  async #commit(key: ObjectKey, pending: PendingObject | undefined, modRevision: number): Promise<Swapped> {
    const { store, keys } = this.#kind;
    const at = keys.of(key);
    const lease = this.#ttl === undefined ? undefined : await this.#lease(pending);
    const conditions = [{ key: at, modRevision }];
    try {
      const outcome = await store.commit({ conditions, operations: [operation(at, pending, lease)] });
      if (outcome.committed) return done(pending, outcome.revision);
      this.#drop(lease);
      return { kind: "stale", current: this.#read(outcome.current[0]) };
    } catch (error) {
      if (isStoreError(error) && error.code === "Unknown") return this.#found(at, pending, error);
      this.#drop(lease);
      throw error;
    }
  }

  /** Handles a lost response. If the object is there, the write succeeded; if not, it may still arrive. */
  async #found(at: string, pending: PendingObject | undefined, error: unknown): Promise<Swapped> {
    const entry = await this.#lookUp(at);
    if (pending === undefined || entry?.value.equals(pending.record) !== true) throw error;
    return done(pending, entry.modRevision);
  }

  /** An unavailable store leaves the outcome unknown. */
  async #lookUp(at: string): Promise<Entry | undefined> {
    try {
      return await this.#kind.store.get(at);
    } catch {
      return undefined;
    }
  }

  /** One lease per object: keys of a shared lease expire at one revision, and a watch could not resume between them. */
  async #lease(pending: PendingObject | undefined): Promise<Lease | undefined> {
    if (pending === undefined || this.#ttl === undefined) return undefined;
    return this.#kind.store.grant(this.#ttl);
  }

  /** Returns the lease of a write that failed. If that fails too, the lease expires. */
  #drop(lease: Lease | undefined): void {
    if (lease !== undefined) this.#kind.store.revoke(lease).catch(() => undefined);
  }

  #read(entry: Entry | undefined): Encoded | undefined {
    return entry === undefined ? undefined : this.#kind.entries.read(entry);
  }
}

function operation(key: string, pending: PendingObject | undefined, lease: Lease | undefined): Operation {
  if (pending === undefined) return { type: "delete", key };
  const put = { type: "put", key, value: pending.record } as const;
  return lease === undefined ? put : { ...put, lease };
}

function done(pending: PendingObject | undefined, revision: number): Swapped {
  return { kind: "done", version: String(revision), object: pending?.at(revision) };
}
