import { statfsSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Change } from "../engine/watch-hub.ts";
import type { Outcome } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { CommitGroup, type CommitGroupBase, type PreparedTransaction } from "./commit-group.ts";
import { faultOf, writeFault } from "./faults.ts";
import type { LmdbState, Tables } from "./tables.ts";

/** A group is taken to be full: its writer's turn should not become long. */
const MOST_TRANSACTIONS = 1024;
const MOST_BYTES = 16 * 2 ** 20;

/** Free bytes: some groups' worth. */
const NEARLY_FULL = 4 * MOST_BYTES;

/** What a writer writes on, and whom it tells. */
export interface WriterOptions {
  readonly dir: string;
  readonly tables: Tables;
  readonly state: LmdbState;
  readonly base: Omit<CommitGroupBase, "state" | "tables">;
  /** Called when changes are durable, before anybody is answered. */
  readonly committed: (changes: readonly Change[]) => void;
}

/** Adds to a group. What it returns is the answer, once the group is durable; what it throws is its own. */
type Work<T> = (group: CommitGroup) => T;

interface Job {
  readonly work: Work<unknown>;
  readonly bytes: number;
  /** Sees all that was before it, and nobody comes after it in its group. */
  readonly alone: boolean;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: all that waits while one group becomes durable is the next group. One group at a time, so that a group
 * that fails is undone by forgetting it.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #queue: Job[] = [];
  #state: LmdbState;
  #running: Promise<void> | undefined;
  /** The last group failed: the next one is written carefully. */
  #careful = false;
  #broken: StoreError | undefined;
  #closed: StoreError | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** As of the newest durable group. */
  get state(): LmdbState {
    return this.#state;
  }

  /** It was closed, or cannot go on: nothing will be written any more. */
  get isOver(): boolean {
    return (this.#closed ?? this.#broken) !== undefined;
  }

  commit(transaction: PreparedTransaction): Promise<Outcome> {
    return this.#enqueue((group) => group.add(transaction), { bytes: transaction.bytes, alone: false });
  }

  /** Work among that of others, that reads no table. */
  join<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(work, { bytes: 0, alone: false });
  }

  /** Work in a group of its own, on what all groups before have left. */
  run<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(work, { bytes: 0, alone: true });
  }

  /** What was called before is done first; what is called after is refused. */
  async close(reason: StoreError): Promise<void> {
    this.#closed ??= reason;
    await this.#running;
  }

  #enqueue<T>(work: Work<T>, { bytes, alone }: Pick<Job, "bytes" | "alone">): Promise<T> {
    const refused = this.#closed ?? this.#broken;
    if (refused !== undefined) return Promise.reject(refused);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, bytes, alone, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    // Those who come in one turn are of one group.
    await turn();
    for (let answers: readonly Settle[] = []; ; ) {
      const next = this.#queue.length === 0 ? undefined : this.#group(this.#take());
      // It is on its way to the disk before anybody is answered: they have much to do then.
      if (next !== undefined) await turn();
      for (const give of answers) give();
      if (next === undefined) break;
      answers = await next;
    }
    this.#running = undefined;
  }

  #take(): Job[] {
    let bytes = 0;
    let count = 0;
    for (const job of this.#queue) {
      if (count > 0 && (job.alone || bytes + job.bytes > MOST_BYTES || count === MOST_TRANSACTIONS)) break;
      bytes += job.bytes;
      count += 1;
      if (job.alone) break;
    }
    return this.#queue.splice(0, count);
  }

  /** @returns what tells each of them, in their order */
  async #group(jobs: readonly Job[]): Promise<readonly Settle[]> {
    const { dir, tables, base, committed } = this.#options;
    const group = new CommitGroup({ ...base, tables, state: this.#state });
    const answers = jobs.map((job) => runJob(job, group, dir));
    try {
      if (this.#broken !== undefined) throw this.#broken;
      if (!group.isEmpty && !answers.every(({ failed }) => failed)) {
        await this.#write(group);
        this.#state = group.state;
        group.settle();
        committed(group.changes);
      }
    } catch (error) {
      return jobs.map(
        ({ reject }) =>
          () =>
            reject(error),
      );
    }
    return answers.map(({ give }) => give);
  }

  async #write(group: CommitGroup): Promise<void> {
    const { tables } = this.#options;
    try {
      if (this.#careful || isNearlyFull(this.#options.dir)) tables.batchSync(() => group.apply());
      else await tables.batch(() => group.apply());
      this.#careful = false;
    } catch (error) {
      this.#careful = true;
      this.#settle(group, error);
    }
  }

  /** A group has failed. Whether it is on disk all the same is what the disk says. */
  #settle(group: CommitGroup, error: unknown): void {
    const { dir, tables } = this.#options;
    let found: LmdbState | undefined;
    try {
      tables.batchSync(() => undefined);
      found = tables.state();
    } catch (cause) {
      this.#broken = new StoreError(
        "Unavailable",
        `the store in ${dir} cannot go on writing: start this process anew`,
        { cause },
      );
      throw new StoreError(
        "Unknown",
        `the store in ${dir} failed while it wrote: start this process anew to see what is there`,
        {
          cause: error,
        },
      );
    }
    const done = found !== undefined && isDeepStrictEqual(found, group.state) && group.state !== this.#state;
    if (!done) throw writeFault(error, dir);
  }
}

/** Where a group may fail for want of space it is written in a way that fails plainly, although others wait for it. */
function isNearlyFull(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize < NEARLY_FULL;
  } catch {
    return true;
  }
}

/** Tells a caller how its call went. */
type Settle = () => void;

interface JobResult {
  /** Whether the job has thrown, and so asks for nothing to be written. */
  readonly failed: boolean;
  readonly give: Settle;
}

/** Does a job's part of the group, and keeps the answer for later. */
function runJob({ work, resolve, reject }: Job, group: CommitGroup, dir: string): JobResult {
  try {
    const answer = work(group);
    return { failed: false, give: () => resolve(answer as never) };
  } catch (error) {
    return { failed: true, give: () => reject(faultOf(error, dir)) };
  }
}
