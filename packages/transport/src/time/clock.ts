import { setTimeout as timeout } from "node:timers/promises";

/** Source of time: the machine, or a test. */
export interface Clock {
  /** Monotonic time from any origin, ms. */
  now(): number;
  /** Calls back once, after at least `ms` milliseconds, unless the result is disposed first. */
  after(ms: number, ring: () => void): Disposable;
}

/** Maximum delay of a Node timer, ms: a longer one fires at once. */
export const LONGEST_TIMER: number = 2 ** 31 - 1;

/** Returns the delay for a timer, ms: at most 24 days, also for `Infinity`. */
export function timerDelay(ms: number): number {
  return Math.min(ms, LONGEST_TIMER);
}

/** The machine's clock. A timer of more than 24 days fires early: callers must check `now` again. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, ring) {
    const timer = setTimeout(ring, timerDelay(Math.max(0, Math.ceil(ms))));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** Options of {@link sleep}. */
export interface SleepOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** @default the machine's */
  readonly clock?: Clock | undefined;
  /** Whether the wait keeps the process running; ignored with a `clock`. @default true */
  readonly ref?: boolean;
}

/**
 * Resolves after `ms` milliseconds, 24 days at most, or as soon as the signal aborts. It never rejects: callers check the
 * signal afterwards, or call `signal.throwIfAborted()`.
 */
export async function sleep(ms: number, { signal, clock, ref = true }: SleepOptions = {}): Promise<void> {
  if (signal?.aborted === true) return;
  if (clock === undefined) {
    await timeout(timerDelay(Math.max(0, ms)), undefined, { signal, ref }).catch(() => undefined);
    return;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  using _ = clock.after(ms, resolve);
  const end = (): void => resolve();
  signal?.addEventListener("abort", end, { once: true });
  await promise;
  signal?.removeEventListener("abort", end);
}
