import { Backoff } from "@virtual-workspaces/transport";

/** Waits before what could not be made is made again, ms. */
const BACKOFF = { first: 250, most: 60_000 } as const;

/** What is being made, by name, which takes minutes; and what could not be. */
export class Creations {
  readonly #running = new Map<string, Creation>();
  readonly #failed = new Map<string, Failure>();

  /** Whether it is being made, or could not be: what there is of it is no space. */
  has(name: string): boolean {
    return this.#running.has(name) || this.#failed.has(name);
  }

  /** Whether there may be something left of it that was not made to the end. */
  hasFailed(name: string): boolean {
    return this.#failed.has(name);
  }

  /** Sees to it that it is being made, in the background. @throws Error why it could not be, once at least before it is made again */
  see(name: string, make: (signal: AbortSignal) => Promise<void>): void {
    if (this.#running.has(name)) return;
    const failure = this.#failed.get(name);
    if (failure !== undefined && !(failure.isTold && performance.now() >= failure.notBefore)) {
      failure.isTold = true;
      throw failure.error;
    }
    const over = new AbortController();
    const ended = make(over.signal).then(
      () => void this.#failed.delete(name),
      (error: unknown) => this.#fell(name, error as Error),
    );
    this.#running.set(name, { over, ended: ended.finally(() => this.#running.delete(name)) });
  }

  /** It is not made any more, and is forgotten. @returns whether it was being made */
  async end(name: string): Promise<boolean> {
    const creation = this.#running.get(name);
    creation?.over.abort();
    await creation?.ended;
    this.#failed.delete(name);
    return creation !== undefined;
  }

  /** Ends all. @returns what was being made */
  async endAll(): Promise<readonly string[]> {
    const names = [...this.#running.keys()];
    await Promise.all(names.map((name) => this.end(name)));
    return names;
  }

  #fell(name: string, error: Error): void {
    const { backoff = new Backoff(BACKOFF) } = this.#failed.get(name) ?? {};
    this.#failed.set(name, { error, backoff, isTold: false, notBefore: performance.now() + backoff.next() });
  }
}

interface Creation {
  readonly over: AbortController;
  /** Resolves when it has come to its end, good or bad. */
  readonly ended: Promise<void>;
}

interface Failure {
  readonly error: Error;
  readonly backoff: Backoff;
  isTold: boolean;
  readonly notBefore: number;
}
