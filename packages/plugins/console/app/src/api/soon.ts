/** Calls `act` after a delay, once for all calls of `schedule` in that time, and again for those while `act` runs. */
export class Soon {
  readonly #act: (signal: AbortSignal) => Promise<void>;
  readonly #delay: number;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isScheduled = false;

  /** @param delay in milliseconds */
  constructor(delay: number, act: (signal: AbortSignal) => Promise<void>) {
    this.#delay = delay;
    this.#act = act;
  }

  schedule(): void {
    this.#isScheduled = true;
    if (this.#isRunning || this.#stop.signal.aborted) return;
    this.#timer ??= setTimeout(() => void this.#run(), this.#delay);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    [this.#timer, this.#isScheduled, this.#isRunning] = [undefined, false, true];
    await this.#act(this.#stop.signal).catch(() => undefined);
    this.#isRunning = false;
    if (this.#isScheduled) this.schedule();
  }
}
