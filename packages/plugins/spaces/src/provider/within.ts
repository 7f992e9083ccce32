import { setTimeout as pause } from "node:timers/promises";

/** A provider has not answered in time: what it was to do may be done, or not. */
export class ProviderLate extends Error {}

/** How long something may take. */
export interface Bounds {
  /** ms */
  readonly timeout: number;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** What a provider does, for as long as it may take, whether or not it minds the signal. @throws ProviderLate; the signal's reason; what `ask` throws */
export async function within<T>(
  what: string,
  { timeout, signal: wanted }: Bounds,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const signal = AbortSignal.any([wanted, over.signal]);
  const late = pause(timeout, undefined, { signal }).then(() => {
    throw new ProviderLate(`its provider has not answered ${what} within ${timeout / 1000} s`);
  });
  try {
    return await Promise.race([ask(signal), late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
