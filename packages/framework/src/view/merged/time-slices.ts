/** Maximum time that steps take in one turn of the event loop, in ms. */
const MOST = 10;
/** Number of steps between two reads of the clock. */
const STEPS = 16;

interface Work {
  readonly steps: Iterator<undefined>;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Runs long work in steps: short work at once, the rest in later turns of the event loop, in order, so that other requests
 * are served in between.
 */
export class TimeSlices {
  readonly #waiting: Work[] = [];
  /** Time when the first work of this turn began; `undefined` when there was none. */
  #began: number | undefined;
  #spent = 0;

  /** Total time of all work, in ms. Nothing else ran in that time. */
  get spent(): number {
    return this.#spent;
  }

  /** @returns a promise when it is not done yet @throws errors of the steps */
  run(steps: Iterator<undefined>): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#isDone(steps)) return undefined;
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ steps, done });
    return done.promise;
  }

  /** Runs steps until none is left or this turn is over. */
  #isDone(steps: Iterator<undefined>): boolean {
    const started = performance.now();
    this.#began ??= this.#begin(started);
    try {
      for (let now = started; now - this.#began < MOST; now = performance.now())
        for (let left = STEPS; left > 0; left--) if (steps.next().done === true) return true;
      return false;
    } finally {
      this.#spent += performance.now() - started;
    }
  }

  #begin(now: number): number {
    setImmediate(() => this.#next());
    return now;
  }

  #next(): void {
    this.#began = undefined;
    for (let work = this.#waiting[0]; work !== undefined; work = this.#waiting[0]) {
      try {
        if (!this.#isDone(work.steps)) return;
        work.done.resolve();
      } catch (error) {
        work.done.reject(error);
      }
      this.#waiting.shift();
    }
  }
}
