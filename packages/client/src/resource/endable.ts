/**
 * A generator that can be ended while it waits: by the signal, whose reason is thrown then, or by leaving it. One of the language would wait
 * for what comes next.
 *
 * @param make is given the signal that ends it
 */
export function endable<T>(
  signal: AbortSignal | undefined,
  make: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const ended = new AbortController();
  const abort = (): void => ended.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  let left = false;

  const values = (async function* (): AsyncGenerator<T, void, undefined> {
    try {
      yield* make(ended.signal);
    } catch (error) {
      if (!left) throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  })();
  const leave = values.return.bind(values);
  values.return = (value) => {
    left = true;
    signal?.removeEventListener("abort", abort);
    ended.abort();
    return leave(value);
  };
  return values;
}
