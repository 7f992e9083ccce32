import { Failure } from "./failure.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/**
 * Time within which the same signal counts once, ms. `kill %1` and terminals signal the whole group: this process, and the
 * parent that forwards the signal to it, such as `npx` or the command of a clone.
 */
const ONCE = 1000;

/** Calls a function at the first SIGINT (Ctrl-C) or SIGTERM. A second signal ends the process at once, with 1. */
function onInterrupt(first: () => void): Disposable {
  let before: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    if (before === undefined) {
      before = { signal, at: performance.now() };
      first();
    } else if (signal !== before.signal || performance.now() - before.at > ONCE) process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, hear);
    },
  };
}

/**
 * Waits for SIGINT (Ctrl-C) or SIGTERM. A second signal ends the process at once, with 1. SIGHUP keeps its default, so that
 * `nohup` works.
 */
export class Interrupt implements Disposable {
  /** Resolves at the first signal. */
  readonly requested: Promise<void>;
  readonly #listening: Disposable;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listening = onInterrupt(resolve);
    this.requested = promise;
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
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
  const listening = onInterrupt(() =>
    controller.abort(new Failure(left === undefined ? "interrupted" : `interrupted; ${left}`)),
  );
  return { signal: controller.signal, [Symbol.dispose]: () => listening[Symbol.dispose]() };
}
