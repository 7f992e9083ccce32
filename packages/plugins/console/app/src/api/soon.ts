/**
 * Calls `act` after a delay, once for all calls of `schedule` in that time, and again for those while `act` runs. The delay is at
 * least the time that `act` took: a slow server is read half of the time at most.
 */
export class Soon {
  readonly #act: (signal: AbortSignal) => Promise<void>;
  readonly #delay: number;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isScheduled = false;
  #took = 0;

  /** @param delay in milliseconds */
  constructor(delay: number, act: (signal: AbortSignal) => Promise<void>) {
    this.#delay = delay;
    this.#act = act;
  }

  schedule(): void {
    this.#isScheduled = true;
    if (this.#isRunning || this.#stop.signal.aborted) return;
    this.#timer ??= setTimeout(() => void this.#run(), Math.max(this.#delay, this.#took));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    [this.#timer, this.#isScheduled, this.#isRunning] = [undefined, false, true];
    const began = performance.now();
    await this.#act(this.#stop.signal).catch(() => undefined);
    this.#took = performance.now() - began;
    this.#isRunning = false;
    if (this.#isScheduled) this.schedule();
    this.#took = 0;
  }
}
