import { onAbort } from "./abort.ts";

/**
 * Creates a generator that can end while it waits: when the signal aborts, whose reason it then throws, or when its consumer
 * leaves the loop. A plain async generator ends only after the next value.
 *
 * @param make receives the signal that ends it
 */
export function abortable<T>(
  signal: AbortSignal | undefined,
  make: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const ended = new AbortController();
  const linked = onAbort(signal, () => ended.abort(signal?.reason));
  let left = false;

  const values = (async function* (): AsyncGenerator<T, void, undefined> {
    try {
      yield* make(ended.signal);
    } catch (error) {
      if (!left) throw error;
    } finally {
      linked[Symbol.dispose]();
    }
  })();
  const leave = values.return.bind(values);
  values.return = (value) => {
    left = true;
    linked[Symbol.dispose]();
    ended.abort();
    return leave(value);
  };
  return values;
}
