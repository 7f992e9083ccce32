import { setTimeout as timeout } from "node:timers/promises";

/** Where time comes from: the machine, or a test. */
export interface Clock {
  /** ms, from any beginning, never backwards. */
  now(): number;
  /** Calls back once, after so many ms at the earliest, unless what is returned is disposed of before. */
  after(ms: number, ring: () => void): Disposable;
}

/** The longest that a timer of Node can be set to, ms: it ends a longer one at once. */
export const LONGEST_TIMER: number = 2 ** 31 - 1;

/** The delay that a timer can be set to, ms: a longer one, `Infinity` too, is 24 days. */
export function timerDelay(ms: number): number {
  return Math.min(ms, LONGEST_TIMER);
}

/** The machine's clock. A timer of more than 24 days rings early: callers look at `now` again. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, ring) {
    const timer = setTimeout(ring, timerDelay(Math.max(0, Math.ceil(ms))));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** What a {@link sleep} depends on. */
export interface SleepOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** @default the machine's */
  readonly clock?: Clock | undefined;
  /** `false`: the wait does not keep the process running. Not for a `clock`. @default true */
  readonly ref?: boolean;
}

/**
 * Resolves after so many ms, 24 days at most, or as soon as the signal aborts. It never rejects: callers look at the signal afterwards,
 * or call `signal.throwIfAborted()`.
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
