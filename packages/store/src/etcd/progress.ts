import { sleep } from "@virtual-workspaces/transport";
import { isStoreError } from "../store-error.ts";
import type { EtcdWatch } from "./etcd-watch.ts";
import type { Member } from "./member.ts";
import type { Members } from "./members.ts";
import { status } from "./methods.ts";
import type { RangeReader } from "./range-reader.ts";
import type { WatchStream } from "./watch-stream.ts";

/** First release of each line whose progress notifications are in order with events. */
const TRUSTED: readonly (readonly [minor: number, patch: number])[] = [
  [4, 25],
  [5, 8],
];

/** Returns whether the progress notifications of a member are reliable. */
export async function trusted(members: Members, member: Member): Promise<boolean> {
  const { version } = await members.askOne(status, {}, member);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  const since = TRUSTED.find(([release]) => release === minor)?.[1];
  return major > 3 || (major === 3 && (since === undefined ? minor > 5 : patch >= since));
}

/** Interval of checks for progress that comes by itself, in ms. */
const AGAIN = 25;
/** Time for etcd to answer a progress request, if it does, in ms. */
const UNANSWERED = 100;
/** Responses to await before events in flight count as received. */
const FENCES = 4;

/**
 * Determines for quiet watches that nothing happened. It requests progress from reliable members. Others may report a
 * revision before they have sent its events (etcd-io/etcd#15220); for them it compares the range: as many keys as at the last
 * delivered revision, and none newer. It misses keys created and deleted in between: their late events end the watch with an
 * error instead of being lost.
 */
export class Progress {
  readonly #members: Members;
  readonly #reader: RangeReader;
  readonly #stream: () => WatchStream | undefined;
  readonly #wanting = new Set<EtcdWatch>();
  #running = false;

  constructor(members: Members, reader: RangeReader, stream: () => WatchStream | undefined) {
    this.#members = members;
    this.#reader = reader;
    this.#stream = stream;
  }

  /** Makes a watch reach etcd's current revision or a later one. */
  want(watch: EtcdWatch): void {
    if (watch.goal === undefined)
      watch.goal = Number.POSITIVE_INFINITY; // unknown until etcd answers
    else watch.again = true; // a request may be on its way already
    this.#wanting.add(watch);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanting.size > 0 && !this.#members.closed.aborted) {
      await this.#round().catch((error: unknown) => this.#failed(error));
      for (const watch of this.#wanting) if (watch.over || watch.goal === undefined) this.#wanting.delete(watch);
    }
    this.#running = false;
  }

  /** Retries after a transient error. */
  async #failed(error: unknown): Promise<void> {
    if (isStoreError(error) && (error.code === "Denied" || error.code === "Invalid"))
      for (const watch of this.#wanting) watch.fail(error);
    else await this.#pause(UNANSWERED);
  }

  async #round(): Promise<void> {
    const unaimed = [...this.#wanting].filter(({ goal }) => goal === Number.POSITIVE_INFINITY);
    if (unaimed.length > 0) {
      const head = await this.#reader.head(this.#members.closed);
      for (const watch of unaimed) watch.aim(head);
    }
    const stream = this.#stream();
    const behind = [...this.#wanting].filter(({ goal }) => goal !== undefined);
    if (behind.length === 0) return;
    const streamed = behind.filter((watch) => stream?.follows(watch));
    if (stream === undefined || streamed.length === 0) return this.#pause(AGAIN);
    if (await stream.believed()) {
      const isAnswered = await this.#requested(stream);
      if (!isAnswered) stream.startBy(Math.max(...behind.map(({ goal = 0 }) => goal)));
      return;
    }
    await this.#concludeAll(stream, streamed);
    if (streamed.some(({ goal }) => goal !== undefined)) await this.#pause(AGAIN);
  }

  /** Requests progress and waits briefly: etcd may not answer. Returns whether it did. */
  async #requested(stream: WatchStream): Promise<boolean> {
    const patience = new AbortController();
    const isAnswered = await Promise.race([
      stream.requestProgress().then(() => true),
      this.#pause(UNANSWERED, patience.signal).then(() => false),
    ]);
    patience.abort();
    return isAnswered;
  }

  async #concludeAll(stream: WatchStream, behind: readonly EtcdWatch[]): Promise<void> {
    const settled = behind.filter((watch) => stream.settled(watch));
    const told = settled.map((watch) => watch.reached);
    const quiet = await Promise.all(settled.map((watch) => this.#isQuiet(watch)));
    // Gives events in flight time to arrive: etcd sends responses beside events and picks at random.
    if (quiet.includes(true)) for (let count = 0; count < FENCES; count++) await this.#requested(stream);
    for (const [index, watch] of settled.entries())
      if (quiet[index] && watch.reached === told[index] && watch.goal !== undefined) watch.progress(watch.goal, false);
  }

  /** Returns whether the range at the goal has as many keys as at the last delivered revision, and none newer. */
  async #isQuiet(watch: EtcdWatch): Promise<boolean> {
    const { bounds, reached, goal } = watch;
    if (goal === undefined) return false;
    const signal = this.#members.closed;
    try {
      const newer = { ...bounds, limit: 1, keysOnly: true, minModRevision: reached + 1, revision: goal };
      const [now, then] = await Promise.all([
        this.#reader.ask(newer, signal),
        this.#reader.ask({ ...bounds, countOnly: true, revision: reached }, signal),
      ]);
      return now.kvs.length === 0 && now.count === then.count;
    } catch (error) {
      if (!isStoreError(error) || error.code !== "Compacted") throw error;
      watch.fail(error);
      return false;
    }
  }

  async #pause(ms: number, over: AbortSignal = this.#members.closed): Promise<void> {
    const signal = AbortSignal.any([over, this.#members.closed]);
    await sleep(ms, { signal });
  }
}
