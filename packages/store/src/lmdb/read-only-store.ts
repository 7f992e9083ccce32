import { checkRange, checkRangeOptions, couldBeKey } from "../engine/limits.ts";
import type { Batch, Entry, KeyRange, Lease, RangeOptions, RangeResult, Store, Watch } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { leaseNotFound } from "./commit-group.ts";
import { damaged } from "./faults.ts";
import type { Folder } from "./folder.ts";
import { remainingIn } from "./lmdb-leases.ts";
import { LogReader } from "./log-reader.ts";
import type { LmdbState } from "./tables.ts";

type Cancel = { readonly signal?: AbortSignal };

/** Read-only store, which another process may write. */
export class ReadOnlyStore implements Store {
  readonly name: string;
  readonly #folder: Folder;
  readonly #reader: LogReader;
  #closing: Promise<void> | undefined;

  constructor(folder: Folder) {
    const { dir, tables } = folder;
    this.name = `lmdb at ${dir}, read-only`;
    this.#folder = folder;
    this.#reader = new LogReader({ dir, tables, bounds: () => this.#state(), checkOpen: () => this.#checkOpen() });
  }

  async head(options?: Cancel): Promise<number> {
    this.#check(options?.signal);
    return this.#state().revision;
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

  watch(): Watch {
    const refused = async (): Promise<IteratorResult<Batch>> => this.#refuse();
    return { requestProgress() {}, [Symbol.asyncIterator]: () => ({ next: refused }) };
  }

  async remaining(id: string): Promise<number> {
    this.#check();
    const remaining = remainingIn(this.#folder.tables, id, this.#folder.dir);
    if (remaining === undefined) throw leaseNotFound(id);
    return remaining;
  }

  async commit(): Promise<never> {
    return this.#refuse();
  }

  async compact(): Promise<never> {
    return this.#refuse();
  }

  async grant(): Promise<Lease> {
    return this.#refuse();
  }

  async renew(): Promise<Lease> {
    return this.#refuse();
  }

  async revoke(): Promise<never> {
    return this.#refuse();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= Promise.resolve(this.#folder[Symbol.asyncDispose]());
    await this.#closing;
  }

  #state(): LmdbState {
    const { tables, dir } = this.#folder;
    const state = tables.state();
    if (state === undefined) throw damaged(dir, "its state is unreadable");
    return state;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw StoreError.closed(this.name);
  }

  #check(signal?: AbortSignal): void {
    this.#checkOpen();
    signal?.throwIfAborted();
    this.#folder.tables.refresh();
  }

  #refuse(): never {
    this.#check();
    throw new StoreError("ReadOnly", `the store in ${this.#folder.dir} is read-only: open it without readOnly`);
  }
}
