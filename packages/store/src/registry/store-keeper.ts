import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Awaitable, Encoded, Keeper, Swapped, SwapTerms } from "@virtual-workspaces/framework";
import type { Entry, Lease, Operation, Store } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { answered } from "./api-errors.ts";
import type { Entries } from "./entries.ts";
import type { Keys } from "./keys.ts";
import type { Draft, Records } from "./record.ts";

/** Where the objects of a kind are kept, and how. */
export interface Place {
  readonly store: Store;
  readonly keys: Keys;
  readonly records: Records;
  readonly entries: Entries;
}

/** The objects of a kind in a store: their resource versions are its revisions. */
export class StoreKeeper implements Keeper {
  readonly #place: Place;
  readonly #ttl: number | undefined;

  /** @param ttl how long an object lives that is not written again, s */
  constructor(place: Place, ttl: number | undefined) {
    this.#place = place;
    this.#ttl = ttl;
  }

  get(key: ObjectKey): Awaitable<Encoded | undefined> {
    const { store, keys } = this.#place;
    return answered(() => {
      const entry = store.get(keys.of(key));
      return entry instanceof Promise ? entry.then((found) => this.#read(found)) : this.#read(entry);
    });
  }

  async all(part: Omit<ObjectKey, "name">): Promise<Encoded[]> {
    const { store, keys, entries } = this.#place;
    const found = await answered(() => store.range(keys.within(part)));
    return found.entries.map((entry) => entries.read(entry));
  }

  async swap(key: ObjectKey, next: KubeObject | undefined, { version, most }: SwapTerms): Promise<Swapped> {
    if (!/^(?:[1-9]\d{0,15})?$/.test(version)) return { kind: "stale", current: await this.get(key) };
    const draft = next === undefined ? undefined : this.#place.records.draft(key, next);
    if (draft !== undefined && draft.length > most) return { kind: "large", length: draft.length };
    return answered(() => this.#commit(key, draft, Number(version)));
  }

  async #commit(key: ObjectKey, draft: Draft | undefined, modRevision: number): Promise<Swapped> {
    const { store, keys } = this.#place;
    const at = keys.of(key);
    const lease = await this.#lease(draft);
    const conditions = [{ key: at, modRevision }];
    try {
      const outcome = await store.commit({ conditions, operations: [operation(at, draft, lease)] });
      if (outcome.committed) return done(draft, outcome.revision);
      this.#drop(lease);
      return { kind: "stale", current: this.#read(outcome.current[0]) };
    } catch (error) {
      if (isStoreError(error) && error.code === "Unknown") return this.#found(at, draft, error);
      this.#drop(lease);
      throw error;
    }
  }

  /** The answer was lost: if it is there, it was done. That it is not says nothing: it may come yet. */
  async #found(at: string, draft: Draft | undefined, error: unknown): Promise<Swapped> {
    const entry = await this.#lookUp(at);
    if (draft === undefined || entry?.value.equals(draft.record) !== true) throw error;
    return done(draft, entry.modRevision);
  }

  /** A store that cannot be read either does not change what is unknown. */
  async #lookUp(at: string): Promise<Entry | undefined> {
    try {
      return await this.#place.store.get(at);
    } catch {
      return undefined;
    }
  }

  /** One for each: what shares a lease ends at one revision, and a watch could not resume between two of them. */
  async #lease(draft: Draft | undefined): Promise<Lease | undefined> {
    if (draft === undefined || this.#ttl === undefined) return undefined;
    return this.#place.store.grant(this.#ttl);
  }

  /** What was not written needs none. If it cannot be given back now, it ends by itself. */
  #drop(lease: Lease | undefined): void {
    if (lease !== undefined) this.#place.store.revoke(lease).catch(() => undefined);
  }

  #read(entry: Entry | undefined): Encoded | undefined {
    return entry === undefined ? undefined : this.#place.entries.read(entry);
  }
}

function operation(key: string, draft: Draft | undefined, lease: Lease | undefined): Operation {
  if (draft === undefined) return { type: "delete", key };
  const put = { type: "put", key, value: draft.record } as const;
  return lease === undefined ? put : { ...put, lease };
}

function done(draft: Draft | undefined, revision: number): Swapped {
  return { kind: "done", version: String(revision), object: draft?.at(revision) };
}
