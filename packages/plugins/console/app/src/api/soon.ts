/** Calls `act` soon after `ask`, once for many calls, and again if asked meanwhile. */
export class Soon {
  readonly #act: (signal: AbortSignal) => Promise<void>;
  readonly #delay: number;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isAsked = false;

  /** @param delay in milliseconds */
  constructor(delay: number, act: (signal: AbortSignal) => Promise<void>) {
    this.#delay = delay;
    this.#act = act;
  }

  ask(): void {
    this.#isAsked = true;
    if (this.#isRunning || this.#stop.signal.aborted) return;
    this.#timer ??= setTimeout(() => void this.#run(), this.#delay);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    [this.#timer, this.#isAsked, this.#isRunning] = [undefined, false, true];
    await this.#act(this.#stop.signal).catch(() => undefined);
    this.#isRunning = false;
    if (this.#isAsked) this.ask();
  }
}
