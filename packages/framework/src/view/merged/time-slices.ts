/** How long one turn of the event loop may be taken up by what is to be done, ms. */
const MOST = 10;
/** How many steps are done before the clock is looked at. */
const STEPS = 16;

interface Work {
  readonly steps: Iterator<undefined>;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Work that may be long, in steps: what is short is done at once, the rest in turns of the event loop, in the order in which
 * it came, so that everybody else is served in between.
 */
export class TimeSlices {
  readonly #waiting: Work[] = [];
  /** When the first work of this turn began; `undefined` in a turn that has had none. */
  #began: number | undefined;
  #spent = 0;

  /** How long all the work took so far, ms: as long as that, nothing else was done. */
  get spent(): number {
    return this.#spent;
  }

  /** @returns a promise when it is not done yet @throws what a step throws */
  run(steps: Iterator<undefined>): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#isDone(steps)) return undefined;
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ steps, done });
    return done.promise;
  }

  /** Does steps until there are none left, or this turn is over. */
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
