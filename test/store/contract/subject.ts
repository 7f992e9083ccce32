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

/** A store for one test. */
export interface Opened {
  readonly store: Store;
  /** Where keys outlive the store: closes it and opens another over the same keys. */
  reopen?(): Promise<Store>;
  /** Closes it, whatever state it is in, and removes all traces of it. */
  close(): Promise<void>;
}

/** An engine, for the suite. */
export interface Engine {
  /** A fresh store without a key. */
  open(): Promise<Opened>;
  /** The largest value that it takes. @default 8 MiB, the contract's own limit */
  readonly largestValue?: number;
  /** Whether keys outlive the store, so that it can be opened again. @default false */
  readonly durable?: boolean;
  /** How many random histories are played, of up to 40 steps each. @default 60 */
  readonly histories?: number;
}

/** The store of the running test, and short ways to speak to it. */
export class Subject {
  readonly engine: Engine;
  #opened: Opened | undefined;
  #store: Store | undefined;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** Gives each test of the suite around the call a store of its own. */
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

  /** The same keys in another store. */
  async reopen(): Promise<void> {
    this.#store = await (this.#opened?.reopen?.() ?? expect.fail("the engine keeps nothing"));
  }

  /** Puts a key whatever stands there. @returns the revision */
  put(key: string, value: string | Uint8Array, lease?: Lease): Promise<number> {
    return this.done(put(key, value, lease));
  }

  delete(key: string): Promise<number> {
    return this.done({ type: "delete", key });
  }

  /** Does operations without a condition. @returns the revision */
  async done(...operations: Operation[]): Promise<number> {
    const outcome = await this.store.commit({ conditions: [], operations });
    return outcome.committed ? outcome.revision : expect.fail("a transaction without conditions was not done");
  }

  /** Reads a range's changes, from now on unless it is told otherwise. */
  async watch(range: KeyRange = everything, options: Partial<WatchOptions> = {}): Promise<Reader> {
    return new Reader(this.store.watch(range, { after: options.after ?? (await this.store.head()), ...options }));
  }

  /** A transaction as it is. */
  commit(transaction: Transaction): Promise<Outcome> {
    return this.store.commit(transaction);
  }

  /** What stands at a key, the value as text. */
  async at(key: string): Promise<Shown | undefined> {
    return shown(await this.store.get(key));
  }

  /** What stands in a range, as key=value. */
  async list(range: KeyRange = everything, revision?: number): Promise<string[]> {
    const { entries } = await this.store.range(range, revision === undefined ? {} : { revision });
    return entries.map(({ key, value }) => `${key}=${value}`);
  }
}

/** Every key that tests use. */
export const everything: KeyRange = { from: "", to: "\u{10FFFF}\u{10FFFF}" };

/** All keys that begin with a text. */
export function under(prefix: string): KeyRange {
  return { from: prefix, to: `${prefix}\u{10FFFF}\u{10FFFF}` };
}

/** An operation that puts a key. */
export function put(key: string, value: string | Uint8Array, lease?: Lease): Operation {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return { type: "put", key, value: bytes, ...(lease !== undefined && { lease }) };
}

/** An entry that can be compared and read. */
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

/** What a call throws, at once or as a rejection. */
export async function thrown(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return expect.fail("it threw nothing");
}

/** The error of a store that a call throws, which must have this code and a message. */
export async function refused(code: StoreErrorCode, call: () => unknown): Promise<StoreError> {
  const error = await thrown(call);
  if (!isStoreError(error)) throw error;
  expect(error.code, error.message).to.equal(code);
  expect(error.message).to.not.equal("");
  return error;
}
