import {
  type Entry,
  isStoreError,
  type KeyRange,
  type Lease,
  type Operation,
  type Outcome,
  type Store,
  type StoreError,
  type StoreErrorCode,
  type Transaction,
  type WatchOptions,
} from "@virtual-workspaces/store";
import { expect } from "chai";
import { Reader } from "./reader.ts";

/** Store of one test. */
export interface Opened {
  readonly store: Store;
  /** Closes a durable store and opens another one with the same keys. */
  reopen?(): Promise<Store>;
  /** Closes the store in any state, and removes its files. */
  close(): Promise<void>;
}

/** Engine under test. */
export interface Engine {
  /** Opens a new, empty store. */
  open(): Promise<Opened>;
  /** Maximum value size. @default 8 MiB, the limit of the interface */
  readonly largestValue?: number;
  /** Whether keys survive closing, so that the store can be reopened. @default false */
  readonly durable?: boolean;
  /** Number of random histories, of up to 40 steps each. @default 60 */
  readonly histories?: number;
}

/** Store of the running test, with shortcuts. */
export class Subject {
  readonly engine: Engine;
  #opened: Opened | undefined;
  #store: Store | undefined;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** Gives each test of the surrounding suite its own store. */
  static for(engine: Engine): Subject {
    const subject = new Subject(engine);
    beforeEach("opens a store", async () => {
      subject.#opened = await engine.open();
      subject.#store = subject.#opened.store;
    });
    afterEach("closes the store", async () => {
      await subject.#opened?.close();
      subject.#opened = undefined;
    });
    return subject;
  }

  get store(): Store {
    return this.#store ?? expect.fail("there is no store outside of a test");
  }

  /** Reopens the store with the same keys. */
  async reopen(): Promise<void> {
    this.#store = await (this.#opened?.reopen?.() ?? expect.fail("the engine keeps nothing"));
  }

  /** Puts a key unconditionally. @returns the revision */
  put(key: string, value: string | Uint8Array, lease?: Lease): Promise<number> {
    return this.done(put(key, value, lease));
  }

  delete(key: string): Promise<number> {
    return this.done({ type: "delete", key });
  }

  /** Applies operations unconditionally. @returns the revision */
  async done(...operations: Operation[]): Promise<number> {
    const outcome = await this.store.commit({ conditions: [], operations });
    return outcome.committed ? outcome.revision : expect.fail("a transaction without conditions was not done");
  }

  /** Watches a range, by default from now on. */
  async watch(range: KeyRange = everything, options: Partial<WatchOptions> = {}): Promise<Reader> {
    return new Reader(this.store.watch(range, { after: options.after ?? (await this.store.head()), ...options }));
  }

  /** Commits a transaction. */
  commit(transaction: Transaction): Promise<Outcome> {
    return this.store.commit(transaction);
  }

  /** Returns the entry of a key, with its value as text. */
  async at(key: string): Promise<Shown | undefined> {
    return shown(await this.store.get(key));
  }

  /** Returns the entries of a range, as key=value. */
  async list(range: KeyRange = everything, revision?: number): Promise<string[]> {
    const { entries } = await this.store.range(range, revision === undefined ? {} : { revision });
    return entries.map(({ key, value }) => `${key}=${value}`);
  }
}

/** Range of every key in these tests. */
export const everything: KeyRange = { from: "", to: "\u{10FFFF}\u{10FFFF}" };

/** Returns the range of all keys with a prefix. */
export function under(prefix: string): KeyRange {
  return { from: prefix, to: `${prefix}\u{10FFFF}\u{10FFFF}` };
}

/** Returns an operation that puts a key. */
export function put(key: string, value: string | Uint8Array, lease?: Lease): Operation {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return { type: "put", key, value: bytes, ...(lease !== undefined && { lease }) };
}

/** Entry in a comparable form. */
export interface Shown {
  readonly key: string;
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
}

export function shown(entry: Entry): Shown;
export function shown(entry: Entry | undefined): Shown | undefined;
export function shown(entry: Entry | undefined): Shown | undefined {
  if (entry === undefined) return undefined;
  const { key, value, createRevision, modRevision } = entry;
  return { key, value: value.toString(), createRevision, modRevision };
}

/** Returns what a call throws, synchronously or as a rejection. */
export async function thrown(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return expect.fail("it threw nothing");
}

/** Returns the store error of a call, which must have this code and a message. */
export async function refused(code: StoreErrorCode, call: () => unknown): Promise<StoreError> {
  const error = await thrown(call);
  if (!isStoreError(error)) throw error;
  expect(error.code, error.message).to.equal(code);
  expect(error.message).to.not.equal("");
  return error;
}
