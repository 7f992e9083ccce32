import { Backoff } from "@virtual-workspaces/transport";

/** Backoff between attempts of a failed creation, ms. */
const BACKOFF = { first: 250, most: 60_000 } as const;

/** Creations by name, in progress or failed. Each takes minutes. */
export class Creations {
  readonly #running = new Map<string, Creation>();
  readonly #failed = new Map<string, Failure>();

  /** Reports whether the creation is in progress or has failed. The incomplete cluster is no space. */
  has(name: string): boolean {
    return this.#running.has(name) || this.#failed.has(name);
  }

  /** Reports whether a failed creation may have left an incomplete cluster. */
  hasFailed(name: string): boolean {
    return this.#failed.has(name);
  }

  /** Ensures that a creation runs in the background. @throws Error of a failed attempt, at least once before the next one */
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

  /** Aborts and forgets a creation. @returns whether it was in progress */
  async end(name: string): Promise<boolean> {
    const creation = this.#running.get(name);
    creation?.over.abort();
    await creation?.ended;
    this.#failed.delete(name);
    return creation !== undefined;
  }

  /** Aborts all creations. @returns names of those that were in progress */
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
  /** Resolves when the creation has succeeded or failed. */
  readonly ended: Promise<void>;
}

interface Failure {
  readonly error: Error;
  readonly backoff: Backoff;
  isTold: boolean;
  readonly notBefore: number;
}
