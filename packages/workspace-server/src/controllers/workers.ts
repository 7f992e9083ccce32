import { WorkQueue, type WorkQueueMetrics } from "@virtual-workspaces/client/queue";
import type { Clock } from "@virtual-workspaces/transport";

/** Priority of initial keys, as in controllers. */
const INITIAL = -100;

/** Options of {@link Workers}. */
export interface WorkersOptions<K> {
  readonly id: (key: K) => string;
  /** Returns the logical cluster of a key, for fair queuing. */
  readonly part: (key: K) => string;
  /** Number of keys processed concurrently. */
  readonly count: number;
  /** Processes a key; an error causes a retry with backoff. */
  readonly work: (key: K) => Promise<void>;
  readonly onError: (error: unknown, key: K) => void;
  /** Time of delays and backoff. */
  readonly clock: Clock;
}

/** Queue with workers that run until disposed. */
export class Workers<K> implements AsyncDisposable {
  readonly #queue: WorkQueue<K>;
  readonly #options: WorkersOptions<K>;
  readonly #running: Promise<unknown>;

  constructor(options: WorkersOptions<K>) {
    this.#options = options;
    this.#queue = new WorkQueue({ id: options.id, part: options.part, clock: options.clock });
    this.#running = Promise.all(Array.from({ length: options.count }, () => this.#work()));
  }

  /** Adds a key. @param after delay in ms, in which further additions are merged. @default none */
  add(key: K, after = 0): void {
    this.#queue.addAfter(key, after);
  }

  /** Adds a key of an object that existed at startup; all other keys come first. */
  addInitial(key: K): void {
    this.#queue.add(key, { priority: INITIAL });
  }

  /** Current metrics of the queue. */
  get metrics(): WorkQueueMetrics {
    return this.#queue.metrics;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.shutdown();
    await this.#running;
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      try {
        await this.#options.work(key);
        this.#queue.forget(key);
      } catch (error) {
        this.#options.onError(error, key);
        this.#queue.addRateLimited(key);
      } finally {
        this.#queue.done(key);
      }
    }
  }
}
