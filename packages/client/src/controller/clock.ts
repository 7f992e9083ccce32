/** Where time comes from: the machine, or a test. */
export interface Clock {
  /** ms, from any beginning, never backwards. */
  now(): number;
  /** Calls back once, after so many ms at the earliest, unless what is returned is disposed of before. */
  after(ms: number, ring: () => void): Disposable;
}

/** The longest that a timer of Node can be set to, ms; with more it would ring at once. */
const LONGEST = 2 ** 31 - 1;

/** The machine's. A timer of more than 24 days rings early: who waits looks at `now` again. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, ring) {
    const timer = setTimeout(ring, Math.min(Math.max(0, Math.ceil(ms)), LONGEST));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** Resolves after so many ms, or as soon as the signal aborts: look at it afterwards. */
export function pause(ms: number, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.after(ms, end);
    signal.addEventListener("abort", end);
  });
}
