import { timerDelay } from "@virtual-workspaces/transport";
/** Limits of a cache of targets. */
export interface TargetsOptions<T> {
  /** Whether a target has requests under way: it is kept then. */
  readonly isActive: (target: T) => boolean;
  /** Number of targets to keep; beyond that, the least recently used idle ones are closed. @default 100 */
  readonly most?: number;
  /** Idle time after which the connections, keys and certificates of a target are released, ms. @default 600000 */
  readonly idleFor?: number;
}

interface Kept<T> {
  readonly target: T;
  readonly version: string;
  usedAt: number;
}

const MOST = 100;
const IDLE = 10 * 60_000;

/**
 * Cache of targets by key: one TLS context and one set of connections each, made on first use. Security: when the version of
 * a key changes, the old target is closed at once with its requests, so that no request uses an outdated address or revoked
 * credentials.
 */
export class Targets<T extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: TargetsOptions<T>;
  readonly #idleFor: number;
  /** Ordered by last use, most recent last. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #closing = new Set<Promise<void>>();
  /** Last used one. */
  #last: Kept<T> | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: TargetsOptions<T>) {
    const { most = MOST, idleFor = IDLE } = options;
    if (!(most >= 1)) throw new Error("invalid option most of targets: use at least 1");
    if (!(idleFor > 0)) throw new Error("invalid option idleFor of targets: use milliseconds above 0");
    this.#options = options;
    this.#idleFor = timerDelay(idleFor);
  }

  /** Number of targets in the cache. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * Returns the target of `key`. `make` creates it if there is none of this version.
   *
   * @param version digest of all it is made of: URL, authorities, credentials, or a generation that stands for them
   * @throws Error after disposal; what `make` throws, after the previous target has been closed
   */
  of(key: string, version: string, make: () => T): T {
    if (this.#closed) throw new Error("targets are closed: make no requests after disposal");
    const known = this.#kept.get(key);
    // Most requests are for the target of the last one.
    if (known !== undefined && known === this.#last && known.version === version) {
      known.usedAt = performance.now();
      return known.target;
    }
    this.#kept.delete(key);
    if (known !== undefined && known.version !== version) this.#close(known.target);
    const target = known?.version === version ? known.target : make();
    const kept = { target, version, usedAt: performance.now() };
    this.#kept.set(key, kept);
    this.#last = kept;
    this.#forget(key);
    this.#sweep ??= setTimeout(this.#look, this.#idleFor).unref();
    return target;
  }

  /** Closes the target of `key`. @param unless version that stays */
  delete(key: string, unless?: string): void {
    const known = this.#kept.get(key);
    if (known === undefined || known.version === unless) return;
    this.#kept.delete(key);
    if (known === this.#last) this.#last = undefined;
    this.#close(known.target);
  }

  /** Closes all targets, with their requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sweep);
    for (const key of [...this.#kept.keys()]) this.delete(key);
    await Promise.all(this.#closing);
  }

  #forget(asked: string): void {
    const { most = MOST, isActive } = this.#options;
    let over = this.#kept.size - most;
    for (const [key, { target }] of this.#kept) {
      if (over <= 0) return;
      if (key === asked || isActive(target)) continue;
      over -= 1;
      this.delete(key);
    }
  }

  readonly #look = (): void => {
    this.#sweep = undefined;
    const now = performance.now();
    for (const [key, kept] of this.#kept) {
      if (this.#options.isActive(kept.target)) kept.usedAt = now;
      else if (now - kept.usedAt >= this.#idleFor) this.delete(key);
    }
    if (this.#kept.size > 0) this.#sweep = setTimeout(this.#look, this.#idleFor).unref();
  };

  #close(target: T): void {
    // A failed disposal does not concern later requests.
    const closing = Promise.resolve(target[Symbol.asyncDispose]()).catch(() => undefined);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}
