/** Calls back once, when the signal aborts, or now if it has; not after the result is disposed of. */
export function onAbort(signal: AbortSignal | undefined, call: () => void): Disposable {
  const listener = (): void => call();
  if (signal?.aborted === true) call();
  else signal?.addEventListener("abort", listener, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", listener) };
}

/** Resolves when the signal has aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, resolve));
}

/**
 * Waits for work that does not observe the signal. On abort, the work continues, and its later rejection is ignored.
 *
 * @throws the error of the work; the signal's reason as soon as it aborts
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  using _ = onAbort(signal, () => reject(signal.reason));
  return await Promise.race([promise, work]);
}
