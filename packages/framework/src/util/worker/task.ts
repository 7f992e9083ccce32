import { WorkerError, type WorkerFault } from "./error.ts";

export interface RunOptions {
  /**
   * The processor's time that the worker may take for it, ms; by the clock, four times as much. Neither waiting nor
   * starting a worker counts.
   */
  readonly budget: number;
  /** Whoever waits has left: a waiting task is dropped, a running one goes on unheard. */
  readonly signal?: AbortSignal | undefined;
}

/** A message and who waits for the reply. Settles once. */
export class Task<Message, Reply> {
  readonly message: Message;
  readonly budget: number;
  readonly result: Promise<Reply>;
  readonly #settled: PromiseWithResolvers<Reply> = Promise.withResolvers<Reply>();
  readonly #signal: AbortSignal | undefined;
  readonly #leave = (): void => this.#settled.reject(this.#signal?.reason);

  constructor(message: Message, { budget, signal }: RunOptions) {
    this.message = message;
    this.budget = budget;
    this.#signal = signal;
    this.result = this.#settled.promise.finally(() => signal?.removeEventListener("abort", this.#leave));
    if (signal?.aborted === true) this.#leave();
    else signal?.addEventListener("abort", this.#leave, { once: true });
  }

  /** Whether nobody waits any more. */
  get abandoned(): boolean {
    return this.#signal?.aborted === true;
  }

  resolve(reply: Reply): void {
    this.#settled.resolve(reply);
  }

  fail(fault: WorkerFault, message: string, cause?: unknown): void {
    this.#settled.reject(new WorkerError(fault, message, cause === undefined ? undefined : { cause }));
  }
}
