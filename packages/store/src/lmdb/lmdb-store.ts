import { checkCount, checkRange, checkRangeOptions, checkTransaction, couldBeKey } from "../engine/limits.ts";
import { WatchHub } from "../engine/watch-hub.ts";
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
import { StoreError } from "../store-error.ts";
import { prepare } from "./commit-group.ts";
import { Compactor } from "./compactor.ts";
import type { Folder } from "./folder.ts";
import { LmdbLeases, leaseNumber, loadLeases } from "./lmdb-leases.ts";
import { LogReader } from "./log-reader.ts";
import { Writer } from "./writer.ts";

type Cancel = { readonly signal?: AbortSignal };

/** Store in a directory. */
export class LmdbStore implements Store {
  readonly name: string;
  readonly #folder: Folder;
  readonly #reader: LogReader;
  readonly #writer: Writer;
  readonly #leases: LmdbLeases;
  readonly #compactor: Compactor;
  readonly #hub: WatchHub;
  #compacted: number;
  #closing: Promise<void> | undefined;

  constructor(folder: Folder) {
    const { dir, tables, state } = folder;
    this.name = `lmdb at ${dir}`;
    this.#folder = folder;
    this.#compacted = state.compacted;
    const reader = new LogReader({ dir, tables, bounds: () => this.#bounds(), checkOpen: () => this.#checkOpen() });
    const table = loadLeases(tables, dir);
    const writer = new Writer({
      dir,
      tables,
      state,
      base: { reader, leaseNumber: (id) => leaseNumber(table, id) },
      committed: (changes) => {
        for (const change of changes) this.#hub.publish(change);
      },
    });
    this.#hub = new WatchHub(reader, { name: this.name, head: state.revision });
    this.#reader = reader;
    this.#writer = writer;
    this.#leases = new LmdbLeases({ tables, table, writer });
    this.#compactor = new Compactor({ tables, reader, writer });
    if (this.#compactor.isBehind) this.#compactor.sweep().catch(() => undefined); // the next compaction continues it
  }

  async head(options?: Cancel): Promise<number> {
    this.#check(options?.signal);
    return this.#hub.head;
  }

  get(key: string, options?: Cancel): Entry | undefined {
    this.#check(options?.signal);
    return couldBeKey(key) ? this.#reader.get(key) : undefined;
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    this.#check(options.signal);
    checkRange(range);
    checkRangeOptions(options);
    return await this.#reader.range(range, options);
  }

  async commit(transaction: Transaction, options?: Cancel): Promise<Outcome> {
    this.#check(options?.signal);
    checkTransaction(transaction);
    return await this.#writer.commit(prepare(transaction));
  }

  watch(range: KeyRange, options: WatchOptions): Watch {
    return this.#hub.watch(range, options);
  }

  async compact(revision: number): Promise<void> {
    this.#check();
    checkCount("revision to compact to", revision, 0);
    if (revision > this.#hub.head) throw StoreError.future(revision, this.#hub.head);
    if (revision <= this.#writer.state.compacted && !this.#compactor.isBehind) return;
    // Reads must not see what the sweep is removing.
    this.#compacted = Math.max(this.#compacted, revision);
    await this.#compactor.compact(revision);
  }

  async grant(ttl: number): Promise<Lease> {
    this.#check();
    return await this.#leases.grant(ttl);
  }

  async renew(lease: Lease): Promise<Lease> {
    this.#check();
    return await this.#leases.renew(lease);
  }

  async revoke(lease: Lease): Promise<void> {
    this.#check();
    await this.#leases.revoke(lease);
  }

  async remaining(id: string): Promise<number> {
    this.#check();
    return this.#leases.remaining(id);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#hub.close();
    this.#leases[Symbol.dispose]();
    await this.#writer.close(StoreError.closed(this.name));
    await this.#folder[Symbol.asyncDispose]();
  }

  #bounds(): { readonly revision: number; readonly compacted: number } {
    return { revision: this.#hub.head, compacted: this.#compacted };
  }

  #checkOpen(): void {
    if (this.#hub.closed) throw StoreError.closed(this.name);
  }

  #check(signal?: AbortSignal): void {
    this.#checkOpen();
    signal?.throwIfAborted();
  }
}
