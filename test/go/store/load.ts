// Writers whose every write can be verified afterwards, and a watch that verifies them at once.
import { isStoreError, type KeyRange, type Store, type Watch } from "@virtual-workspaces/store";
import { expect } from "chai";

const WRITERS = 64;
const FILLER = "0123456789abcdef".repeat(128);
const PREFIX = "load/";
const RANGE: KeyRange = { from: PREFIX, to: "load0" };

/** Called for each acknowledged write. */
export type Acknowledge = (writer: number, count: number, revision: number) => void;

/** Runs 64 writers, each of which increments its own key, 2 KiB per write, until the signal aborts, regardless of etcd failures. */
export async function write(store: Store, signal: AbortSignal, acknowledge: Acknowledge): Promise<void> {
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => countUp({ store, signal, writer }, acknowledge)));
}

interface Writer {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly writer: number;
}

async function countUp({ store, signal, writer }: Writer, acknowledge: Acknowledge): Promise<void> {
  const key = `${PREFIX}${writer}`;
  let known: { readonly count: number; readonly modRevision: number } | undefined;
  while (!signal.aborted)
    try {
      if (known === undefined) {
        const entry = await store.get(key);
        known = { count: entry === undefined ? 0 : read(entry.value, writer), modRevision: entry?.modRevision ?? 0 };
      }
      const count = known.count + 1;
      const value = Buffer.from(`${writer} ${count} ${FILLER}`);
      const conditions = [{ key, modRevision: known.modRevision }];
      const outcome = await store.commit({ conditions, operations: [{ type: "put", key, value }] });
      if (outcome.committed) acknowledge(writer, count, outcome.revision);
      // Otherwise a write of ours, whose answer was lost, took place after the read.
      known = outcome.committed ? { count, modRevision: outcome.revision } : undefined;
    } catch (error) {
      if (!isStoreError(error) || (error.code !== "Unknown" && error.code !== "Unavailable")) throw error;
      known = undefined;
    }
}

/** Returns the count in a value, which must be complete. */
function read(value: Buffer, writer: number): number {
  const text = value.toString("latin1");
  const [whose, count] = text.split(" ", 2).map(Number);
  expect(text, "a torn object").to.equal(`${whose} ${count} ${FILLER}`);
  expect(whose).to.equal(writer);
  return count ?? 0;
}

/** All acknowledged writes, by key and count, with their revisions. */
export class Ledger {
  readonly #acknowledged = new Map<string, number>();
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();

  readonly acknowledge: Acknowledge = (writer, count, revision) => {
    const write = `${PREFIX}${writer} ${count}`;
    expect(this.#acknowledged.has(write), `${write} acknowledged twice`).to.equal(false);
    this.#acknowledged.set(write, revision);
    for (const waiting of this.#waiting)
      if (this.size >= waiting.count) {
        this.#waiting.delete(waiting);
        waiting.resolve();
      }
  };

  get size(): number {
    return this.#acknowledged.size;
  }

  /** Resolves when this many more writes have been acknowledged. */
  more(count: number): Promise<void> {
    return new Promise((resolve) => void this.#waiting.add({ count: this.size + count, resolve }));
  }

  /** Verifies that no acknowledged write is missing, and that each has its acknowledged revision. */
  check(history: ReadonlyMap<string, number>): void {
    for (const [write, revision] of this.#acknowledged)
      if (history.get(write) !== revision) expect(history.get(write), `${write} was acknowledged`).to.equal(revision);
  }
}

/** Reads a watch of the load, and fails at a gap, a duplicate or a torn object. */
export class Follower {
  /** Revision of each write. */
  readonly history = new Map<string, number>();
  readonly #watch: Watch;
  readonly #reading: Promise<void>;
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>();
  #revision = 0;

  constructor(store: Store, after: number) {
    this.#watch = store.watch(RANGE, { after });
    this.#reading = this.#read();
    this.#reading.catch(() => undefined); // the error rejects the waiting calls
  }

  /** Resolves when the watch has reached a revision. */
  async reaches(revision: number): Promise<void> {
    const reached = new Promise<void>((resolve) => void this.#waiting.add({ revision, resolve }));
    this.#watch.requestProgress();
    this.#wake();
    await Promise.race([reached, this.#reading.then(() => expect.fail("the watch has ended"))]);
  }

  async #read(): Promise<void> {
    for await (const { revision, events } of this.#watch) {
      expect(revision).to.be.at.least(this.#revision);
      this.#revision = revision;
      for (const { key, entry } of events) {
        const count = read(entry?.value ?? expect.fail(`${key} was deleted`), Number(key.slice(PREFIX.length)));
        if (count !== (this.#counts.get(key) ?? 0) + 1)
          expect.fail(`${key} is at ${count} in revision ${revision} after ${this.#counts.get(key)}`);
        this.#counts.set(key, count);
        this.history.set(`${key} ${count}`, revision);
      }
      this.#wake();
    }
  }

  #wake(): void {
    for (const waiting of this.#waiting)
      if (this.#revision >= waiting.revision) {
        this.#waiting.delete(waiting);
        waiting.resolve();
      }
  }
}

/** Store under load, with a watch from the start. */
export class Load {
  readonly ledger: Ledger = new Ledger();
  readonly live: Follower;
  readonly #store: Store;
  readonly #base: number;
  readonly #stop = new AbortController();
  readonly #writing: Promise<void>;

  private constructor(store: Store, base: number) {
    this.#store = store;
    this.#base = base;
    this.live = new Follower(store, base);
    this.#writing = write(store, this.#stop.signal, this.ledger.acknowledge);
    this.#writing.catch(() => undefined); // rejected at the end
  }

  static async start(store: Store): Promise<Load> {
    return new Load(store, await store.head());
  }

  /** Resolves when this many more writes have been acknowledged. */
  async more(count: number): Promise<void> {
    await Promise.race([this.ledger.more(count), this.#writing]);
  }

  /** Ends the load, and verifies that the open watch and a new one from the start saw every write exactly once. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
    const head = await this.#store.head();
    const replay = new Follower(this.#store, this.#base);
    await Promise.all([this.live.reaches(head), replay.reaches(head)]);
    this.ledger.check(replay.history);
    expect(this.live.history.size).to.equal(replay.history.size);
    this.ledger.check(this.live.history);
  }
}
