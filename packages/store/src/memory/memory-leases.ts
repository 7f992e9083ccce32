import type { Clock } from "@virtual-workspaces/transport";
import { grantedTtl } from "../engine/limits.ts";
import { Expiries } from "../engine/timers.ts";
import type { Lease } from "../store.ts";
import { StoreError } from "../store-error.ts";

interface LeaseWithKeys {
  readonly lease: Lease;
  readonly keys: Set<string>;
}

/** Leases of an in-memory store, with their keys. */
export class MemoryLeases {
  readonly #leases = new Map<string, LeaseWithKeys>();
  readonly #expiries: Expiries;
  #lastId = 0;

  /** @param over called with the keys of an expired lease */
  constructor(over: (keys: Iterable<string>) => void, clock: Clock | undefined) {
    this.#expiries = new Expiries((id) => over(this.#take(id)), clock);
  }

  grant(ttl: number): Lease {
    const lease = { id: String(++this.#lastId), ttl: grantedTtl(ttl) };
    this.#leases.set(lease.id, { lease, keys: new Set() });
    this.#expiries.set(lease.id, lease.ttl);
    return lease;
  }

  renew(id: string): Lease {
    const { lease } = this.#get(id);
    this.#expiries.set(id, lease.ttl);
    return lease;
  }

  /** Revokes a lease. @returns its keys */
  revoke(id: string): Iterable<string> {
    this.check(id);
    this.#expiries.delete(id);
    return this.#take(id);
  }

  /** Returns the remaining time, in seconds. */
  remaining(id: string): number {
    this.check(id);
    return this.#expiries.remaining(id) ?? 0;
  }

  /** @throws StoreError `LeaseNotFound` */
  check(id: string): void {
    this.#get(id);
  }

  attach(id: string, key: string): void {
    this.#get(id).keys.add(key);
  }

  detach(id: string, key: string): void {
    this.#leases.get(id)?.keys.delete(key);
  }

  clear(): void {
    this.#expiries.clear();
    this.#leases.clear();
  }

  #get(id: string): LeaseWithKeys {
    const held = this.#leases.get(id);
    if (held === undefined) throw new StoreError("LeaseNotFound", `lease ${id} has expired or never existed`);
    return held;
  }

  #take(id: string): Iterable<string> {
    const { keys } = this.#get(id);
    this.#leases.delete(id);
    return keys;
  }
}
