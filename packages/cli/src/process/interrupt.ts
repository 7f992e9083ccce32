import { Failure } from "./failure.ts";

/**
 * Hears of the wish to end: Ctrl-C, or a manager of processes. Whoever says it twice means at once: the process ends with 1.
 * A terminal that is closed is not heard, so that `nohup` keeps its meaning.
 */
export class Interrupt implements Disposable {
  /** Resolves the first time. */
  readonly asked: Promise<void>;
  readonly #stack = new DisposableStack();

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    let before = false;
    const hear = (): void => {
      if (before) process.exit(1);
      before = true;
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      this.#stack.adopt(process.on(signal, hear), () => void process.off(signal, hear));
    this.asked = promise;
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }
}

/** How long what is left may hold the process once all is closed, ms: an etcd that was being waited for would, for seconds. */
const LINGER = 500;

/** Sees to it that the process ends soon. @returns the exit code that it ends with */
export function leave(code: number): number {
  setTimeout(() => process.exit(code), LINGER).unref();
  return code;
}

/**
 * Has Ctrl-C, or a manager of processes, end what heeds the signal; said twice it ends the process.
 *
 * @param left what to say of what may be left behind
 */
export function abortOnInterrupt(left?: string): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Failure(left === undefined ? "interrupted" : `interrupted; ${left}`));
  process.once("SIGINT", abort).once("SIGTERM", abort);
  const dispose = (): void => void process.off("SIGINT", abort).off("SIGTERM", abort);
  return { signal: controller.signal, [Symbol.dispose]: dispose };
}
