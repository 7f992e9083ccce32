import { statfsSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Change } from "../engine/watch-hub.ts";
import type { Outcome } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { CommitGroup, type CommitGroupBase, type PreparedTransaction } from "./commit-group.ts";
import { faultOf, writeFault } from "./faults.ts";
import type { LmdbState, Tables } from "./tables.ts";

/** Maximum number of transactions in a group, to keep turns of the event loop short. */
const MOST_TRANSACTIONS = 1024;
const MOST_BYTES = 16 * 2 ** 20;

/** Free space below which the disk counts as nearly full, in bytes: several groups. */
const NEARLY_FULL = 4 * MOST_BYTES;

/** Options of a writer. */
export interface WriterOptions {
  readonly dir: string;
  readonly tables: Tables;
  readonly state: LmdbState;
  readonly base: Omit<CommitGroupBase, "state" | "tables">;
  /** Called when changes are durable, before their callers get a response. */
  readonly committed: (changes: readonly Change[]) => void;
}

/** Adds to a group. Its result is returned once the group is durable; its exception goes to its caller only. */
type Work<T> = (group: CommitGroup) => T;

interface Job {
  readonly work: Work<unknown>;
  readonly bytes: number;
  /** Runs after all earlier work, and last in its group. */
  readonly alone: boolean;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: all work that arrives while a group becomes durable forms the next group. There is one group at a time, so
 * that a failed group needs no rollback.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #queue: Job[] = [];
  #state: LmdbState;
  #running: Promise<void> | undefined;
  /** Whether the last group failed, so that the next one is written synchronously. */
  #careful = false;
  #broken: StoreError | undefined;
  #closed: StoreError | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** State after the newest durable group. */
  get state(): LmdbState {
    return this.#state;
  }

  /** Whether the writer is closed or broken, and rejects all work. */
  get isOver(): boolean {
    return (this.#closed ?? this.#broken) !== undefined;
  }

  commit(transaction: PreparedTransaction): Promise<Outcome> {
    return this.#enqueue((group) => group.add(transaction), { bytes: transaction.bytes, alone: false });
  }

  /** Adds work that reads no table to the next group. */
  join<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(work, { bytes: 0, alone: false });
  }

  /** Runs work in a group of its own, after all earlier groups. */
  run<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(work, { bytes: 0, alone: true });
  }

  /** Rejects new work and drains the queue. */
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
    // Work of one turn of the event loop shares a group.
    await turn();
    for (let answers: readonly Settle[] = []; ; ) {
      const next = this.#queue.length === 0 ? undefined : this.#group(this.#take());
      // Send the next group to the disk before callers resume, since they keep the thread busy.
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

  /** @returns functions that settle each job, in order */
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

  /** Handles a failed group: the disk tells whether it was written anyway. */
  #settle(group: CommitGroup, error: unknown): void {
    const { dir, tables } = this.#options;
    let found: LmdbState | undefined;
    try {
      tables.batchSync(() => undefined);
      found = tables.state();
    } catch (cause) {
      this.#broken = new StoreError("Unavailable", `the store in ${dir} can no longer write: restart this process`, {
        cause,
      });
      throw new StoreError(
        "Unknown",
        `a write to the store in ${dir} failed, and its outcome is unknown: restart this process`,
        {
          cause: error,
        },
      );
    }
    const done = found !== undefined && isDeepStrictEqual(found, group.state) && group.state !== this.#state;
    if (!done) throw writeFault(error, dir);
  }
}

/** On a nearly full disk, groups are written synchronously, because only that fails cleanly; others wait meanwhile. */
function isNearlyFull(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize < NEARLY_FULL;
  } catch {
    return true;
  }
}

/** Settles a caller's promise. */
type Settle = () => void;

interface JobResult {
  /** Whether the job threw, and needs nothing written. */
  readonly failed: boolean;
  readonly give: Settle;
}

/** Runs a job in the group, and returns how to settle it. */
function runJob({ work, resolve, reject }: Job, group: CommitGroup, dir: string): JobResult {
  try {
    const answer = work(group);
    return { failed: false, give: () => resolve(answer as never) };
  } catch (error) {
    return { failed: true, give: () => reject(faultOf(error, dir)) };
  }
}
