import { WorkQueue } from "@virtual-workspaces/client/queue";

/** As controllers have it. */
const INITIAL = -100;

/** How keys are worked on. */
export interface WorkersOptions<K> {
  readonly id: (key: K) => string;
  /** Whose turn a key is served in: its logical cluster. */
  readonly part: (key: K) => string;
  /** How many keys are worked on at a time. */
  readonly count: number;
  /** What throws is tried again, later each time. */
  readonly work: (key: K) => Promise<void>;
  readonly onError: (error: unknown, key: K) => void;
}

/** A queue and those who work on it, until disposed. */
export class Workers<K> implements AsyncDisposable {
  readonly #queue: WorkQueue<K>;
  readonly #options: WorkersOptions<K>;
  readonly #running: Promise<unknown>;

  constructor(options: WorkersOptions<K>) {
    this.#options = options;
    this.#queue = new WorkQueue({ id: options.id, part: options.part });
    this.#running = Promise.all(Array.from({ length: options.count }, () => this.#work()));
  }

  /** @param after ms: many reasons within that time are one. @default at once */
  add(key: K, after = 0): void {
    this.#queue.addAfter(key, after);
  }

  /** The same of what has been there all along: it waits for everything else. */
  addInitial(key: K): void {
    this.#queue.add(key, { priority: INITIAL });
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
