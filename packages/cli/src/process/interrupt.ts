import { Failure } from "./failure.ts";

/**
 * Waits for SIGINT (Ctrl-C) or SIGTERM. A second signal ends the process at once, with 1. SIGHUP keeps its default, so that
 * `nohup` works.
 */
export class Interrupt implements Disposable {
  /** Resolves at the first signal. */
  readonly requested: Promise<void>;
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
    this.requested = promise;
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }
}

/** Time that open handles may hold the process after the shutdown, ms: a pending connection to etcd would take seconds. */
const LINGER = 500;

/** Makes the process end soon. @returns its exit code */
export function leave(code: number): number {
  setTimeout(() => process.exit(code), LINGER).unref();
  return code;
}

/**
 * Returns an AbortSignal for SIGINT (Ctrl-C) and SIGTERM. A second signal ends the process.
 *
 * @param left message about what may be left behind
 */
export function abortOnInterrupt(left?: string): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Failure(left === undefined ? "interrupted" : `interrupted; ${left}`));
  process.once("SIGINT", abort).once("SIGTERM", abort);
  const dispose = (): void => void process.off("SIGINT", abort).off("SIGTERM", abort);
  return { signal: controller.signal, [Symbol.dispose]: dispose };
}
