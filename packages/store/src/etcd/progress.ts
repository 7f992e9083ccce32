import { sleep } from "@virtual-workspaces/transport";
import { isStoreError } from "../store-error.ts";
import type { EtcdWatch } from "./etcd-watch.ts";
import type { Member } from "./member.ts";
import type { Members } from "./members.ts";
import { status } from "./methods.ts";
import type { RangeReader } from "./range-reader.ts";
import type { WatchStream } from "./watch-stream.ts";

/** From which release of each line on progress notices are sent in order with events. */
const TRUSTED: readonly (readonly [minor: number, patch: number])[] = [
  [4, 25],
  [5, 8],
];

/** Whether a member is new enough for its progress notices to be believed. */
export async function trusted(members: Members, member: Member): Promise<boolean> {
  const { version } = await members.askOne(status, {}, member);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  const since = TRUSTED.find(([release]) => release === minor)?.[1];
  return major > 3 || (major === 3 && (since === undefined ? minor > 5 : patch >= since));
}

/** How long to wait for what comes by itself before looking again, ms. */
const AGAIN = 25;
/** How long etcd may take for an answer, if it gives one, ms. */
const UNANSWERED = 100;
/** Answers to await before what has not come is taken not to come. */
const FENCES = 4;

/**
 * Finds out for quiet watches that nothing happened. Of a member that can be trusted to, it is asked; others may say that
 * they are at a revision while events before it are still to be sent (etcd-io/etcd#15220), and there it is concluded from
 * what stands in the range: as many keys as at the last revision told, and none newer. Keys that came and went meanwhile
 * escape this; their events come later, and end the watch with an error rather than being lost.
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

  /** Sees to it that a watch is told of the revision that etcd has now, or a later one. */
  want(watch: EtcdWatch): void {
    if (watch.goal === undefined)
      watch.goal = Number.POSITIVE_INFINITY; // until etcd has been asked
    else watch.again = true; // etcd may have been asked already
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

  /** What passes is tried again. */
  async #failed(error: unknown): Promise<void> {
    if (isStoreError(error) && (error.code === "Denied" || error.code === "Invalid"))
      for (const watch of this.#wanting) watch.fail(error);
    else await this.#pause(UNANSWERED);
  }

  async #round(): Promise<void> {
    const unasked = [...this.#wanting].filter(({ goal }) => goal === Number.POSITIVE_INFINITY);
    if (unasked.length > 0) {
      const head = await this.#reader.head(this.#members.closed);
      for (const watch of unasked) watch.aim(head);
    }
    const stream = this.#stream();
    const behind = [...this.#wanting].filter(({ goal }) => goal !== undefined);
    if (behind.length === 0) return;
    const streamed = behind.filter((watch) => stream?.follows(watch));
    if (stream === undefined || streamed.length === 0) return this.#pause(AGAIN);
    if (await stream.believed()) return this.#asked(stream);
    await this.#concludeAll(stream, streamed);
    if (streamed.some(({ goal }) => goal !== undefined)) await this.#pause(AGAIN);
  }

  /** Asks, and waits for the answer, but not for long: there may be none. */
  async #asked(stream: WatchStream): Promise<void> {
    const patience = new AbortController();
    await Promise.race([stream.requestProgress(), this.#pause(UNANSWERED, patience.signal)]);
    patience.abort();
  }

  async #concludeAll(stream: WatchStream, behind: readonly EtcdWatch[]): Promise<void> {
    const settled = behind.filter((watch) => stream.settled(watch));
    const told = settled.map((watch) => watch.reached);
    const quiet = await Promise.all(settled.map((watch) => this.#isQuiet(watch)));
    // What is under way comes first, very likely: etcd sends answers beside events, and chooses among them at random.
    if (quiet.includes(true)) for (let count = 0; count < FENCES; count++) await this.#asked(stream);
    for (const [index, watch] of settled.entries())
      if (quiet[index] && watch.reached === told[index] && watch.goal !== undefined) watch.progress(watch.goal, false);
  }

  /** Whether as many keys stand in the range at its goal as when it was told last, and none is newer. */
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
