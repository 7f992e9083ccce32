import type { Awaitable } from "../../storage.ts";

/** Work that waits only for answers which are promises: where all come at once, so does its result. */
export type Steps<R> = Generator<unknown, R, unknown>;

/** The answer, when it is there: `const it = yield* ask(storage.get(key))`. */
export function* ask<A>(answer: Awaitable<A>): Steps<A> {
  return (yield answer) as A;
}

/** Does the work, at once as far as it can. */
export function run<R>(steps: Steps<R>): Awaitable<R> {
  let step = steps.next();
  while (!step.done) {
    if (step.value instanceof Promise) return finish(steps, step.value);
    step = steps.next(step.value);
  }
  return step.value;
}

async function finish<R>(steps: Steps<R>, pending: unknown): Promise<R> {
  let step: IteratorResult<unknown, R> = { done: false, value: pending };
  while (!step.done) step = await answered(steps, step.value);
  return step.value;
}

async function answered<R>(steps: Steps<R>, pending: unknown): Promise<IteratorResult<unknown, R>> {
  let answer: unknown;
  try {
    answer = await pending;
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(answer);
}
