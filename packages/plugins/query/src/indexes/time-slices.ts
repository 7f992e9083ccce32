import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest blocking of other work, in milliseconds. */
const SLICE = 5;

/**
 * Runs work in slices between other work of the process. The work is an iterator that yields wherever it can pause.
 *
 * @param limit.cpu most time that the work itself may take, in milliseconds
 * @throws the reason of the signal, and what `limit.error` returns when the work takes too long
 */
export async function inSlices<T>(
  work: Iterator<unknown, T>,
  limit: { readonly signal: AbortSignal; readonly cpu: number; readonly error: () => Error },
): Promise<T> {
  let spent = 0;
  for (;;) {
    limit.signal.throwIfAborted();
    const began = performance.now();
    let now = began;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
      now = performance.now();
    } while (now - began < SLICE);
    spent += now - began;
    if (spent > limit.cpu) throw limit.error();
    await nextTurn();
  }
}

const RUN = 1024;

/** Sorts in steps: runs of some thousand items, which are then merged. */
export function* sortSteps<T>(items: T[], compare: (one: T, other: T) => number): Generator<undefined, T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    runs.push(items.slice(at, at + RUN).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const next: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      next.push(
        at + 1 < runs.length ? yield* mergeSteps(runs[at] as T[], runs[at + 1] as T[], compare) : (runs[at] as T[]),
      );
    runs = next;
  }
  return runs[0] ?? [];
}

function* mergeSteps<T>(left: T[], right: T[], compare: (one: T, other: T) => number): Generator<undefined, T[]> {
  const merged: T[] = [];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    merged.push(compare(left[at] as T, right[other] as T) <= 0 ? (left[at++] as T) : (right[other++] as T));
    if (merged.length % RUN === 0) yield;
  }
  while (at < left.length) merged.push(left[at++] as T);
  while (other < right.length) merged.push(right[other++] as T);
  return merged;
}
