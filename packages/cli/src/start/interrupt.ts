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
