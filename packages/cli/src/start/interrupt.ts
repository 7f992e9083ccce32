/**
 * Hears of the wish to end: Ctrl-C, a manager of processes, a terminal that is closed. Whoever says it twice means at once:
 * the process ends with 1.
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
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      this.#stack.adopt(process.on(signal, hear), () => process.off(signal, hear));
    this.asked = promise;
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }
}
