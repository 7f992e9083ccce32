import { type ReadonlySignal, type Signal, signal } from "@preact/signals";

/** Time after the last reader until a source ends, in milliseconds. A reader of the next page finds it running. */
const LINGER = 3_000;

const sources = new Map<string, Signal<unknown>>();
const ends = new Map<Signal<unknown>, () => void>();

/** Ends all sources at once, so that another user does not see what the last one has read. Readers start them again. */
export function endSources(): void {
  for (const end of ends.values()) end();
  sources.clear();
}

/**
 * Signal that all readers of the same key share. `start` runs when the first component or computed signal reads it. The function
 * that it returns runs soon after the last reader has stopped.
 */
function shared<T>(key: string, initial: T, start: (state: Signal<T>) => () => void): ReadonlySignal<T> {
  const known = sources.get(key);
  if (known !== undefined) return known as Signal<T>;
  let stop: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    stop?.();
    stop = undefined;
    ends.delete(state as Signal<unknown>);
    if (sources.get(key) === state) sources.delete(key);
  };
  const state: Signal<T> = signal(initial, {
    watched() {
      clearTimeout(timer);
      sources.set(key, state as Signal<unknown>);
      // Not in the middle of a render: starting may set the signal.
      stop ??= deferred(() => start(state));
      ends.set(state as Signal<unknown>, end);
    },
    unwatched() {
      timer = setTimeout(end, LINGER);
    },
  });
  sources.set(key, state as Signal<unknown>);
  return state;
}

/** The same for a state with `reload`, which ends the source and starts it again. */
export function reloadable<T extends { readonly reload: () => void }>(
  key: string,
  initial: Omit<T, "reload">,
  start: (state: Signal<T>) => () => void,
): ReadonlySignal<T> {
  return shared<T>(key, { ...initial, reload: () => undefined } as unknown as T, (state) => {
    let stop: (() => void) | undefined;
    let isEnded = false;
    const reload = () => {
      // A reader that has left may still hold the state.
      if (isEnded) return;
      stop?.();
      stop = start(state);
    };
    state.value = { ...state.peek(), reload };
    reload();
    return () => {
      isEnded = true;
      stop?.();
    };
  });
}

function deferred(start: () => () => void): () => void {
  let stop: (() => void) | undefined;
  let isStopped = false;
  queueMicrotask(() => {
    if (!isStopped) stop = start();
  });
  return () => {
    isStopped = true;
    stop?.();
  };
}
