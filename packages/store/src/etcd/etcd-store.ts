import { checkCount, checkRange, checkRangeOptions, couldBeKey } from "../engine/limits.ts";
import type {
  Entry,
  KeyRange,
  Lease,
  Outcome,
  RangeOptions,
  RangeResult,
  Store,
  Transaction,
  Watch,
  WatchOptions,
} from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { decodeOutcome, EtcdKeys, encodeTransaction } from "./conversion.ts";
import { grant, remaining, renew, revoke } from "./etcd-leases.ts";
import { Members } from "./members.ts";
import { compact, txn } from "./methods.ts";
import { type EtcdOptions, settings } from "./options.ts";
import { RangeReader } from "./range-reader.ts";
import { RevisionTracker } from "./revision-tracker.ts";
import { Watches } from "./watches.ts";

/** Empty range, for requests that concern only etcd itself. */
const NOTHING: KeyRange = { from: "", to: "\0" };

/** Time for etcd to report its compacted revision, in ms. */
const COMPACTED = 2000;

interface Cancel {
  readonly signal?: AbortSignal;
}

/** Store in etcd. */
export class EtcdStore implements Store {
  readonly name: string;
  readonly shared = true;
  readonly #members: Members;
  readonly #keys: EtcdKeys;
  readonly #revisions: RevisionTracker;
  readonly #reader: RangeReader;
  readonly #watches: Watches;

  constructor(options: EtcdOptions) {
    const resolved = settings(options);
    this.name = resolved.name;
    this.#members = new Members(resolved);
    this.#keys = new EtcdKeys(resolved.prefix);
    this.#revisions = new RevisionTracker(resolved.name);
    this.#reader = new RangeReader(this.#members, this.#keys, this.#revisions);
    this.#watches = new Watches(this.#members, this.#keys, { reader: this.#reader, revisions: this.#revisions });
  }

  head({ signal }: Cancel = {}): Promise<number> {
    return this.#reader.head(signal);
  }

  async get(key: string, { signal }: Cancel = {}): Promise<Entry | undefined> {
    return couldBeKey(key) ? await this.#reader.get(key, signal) : undefined;
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    checkRange(range);
    checkRangeOptions(options);
    try {
      return await this.#reader.range(range, options);
    } catch (error) {
      throw await this.#explained(error, options.revision ?? 0);
    }
  }

  async commit(transaction: Transaction, { signal }: Cancel = {}): Promise<Outcome> {
    const message = encodeTransaction(transaction, this.#keys);
    const heard = this.#revisions.asking();
    const answer = await this.#members.ask(txn, message, { repeatable: false, signal });
    heard(answer.header);
    return decodeOutcome(answer, this.#keys);
  }

  watch(range: KeyRange, options: WatchOptions): Watch {
    return this.#watches.watch(range, options);
  }

  async compact(revision: number): Promise<void> {
    checkCount("revision to compact to", revision, 0);
    try {
      await this.#members.ask(compact, { revision });
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Compacted") throw await this.#explained(error, revision);
    }
  }

  async grant(ttl: number): Promise<Lease> {
    return grant(this.#members, ttl);
  }

  renew(lease: Lease): Promise<Lease> {
    return renew(this.#members, lease);
  }

  revoke(lease: Lease): Promise<void> {
    return revoke(this.#members, lease);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watches[Symbol.dispose]();
    this.#members[Symbol.dispose]();
  }

  remaining(id: string): Promise<number> {
    return remaining(this.#members, id);
  }

  /** Completes etcd's error about a revision with the compacted revision, which etcd omits. */
  async #explained(error: unknown, asked: number): Promise<unknown> {
    if (!isStoreError(error)) return error;
    if (error.code === "Future") return StoreError.future(asked, await this.head());
    if (error.code !== "Compacted") return error;
    // etcd reports its compacted revision only to watches.
    const watch = this.watch(NOTHING, { after: 0, signal: AbortSignal.timeout(COMPACTED) });
    const refusal = await watch[Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error);
    const compacted = isStoreError(refusal) ? refusal.compacted : undefined;
    return compacted === undefined ? error : StoreError.compacted(asked, compacted);
  }
}
