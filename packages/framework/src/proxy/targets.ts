import { timerDelay } from "@virtual-workspaces/transport";
/** How much is kept, and for how long. */
export interface TargetsOptions<T> {
  /** Whether requests are under way there: such a one is kept. */
  readonly isActive: (target: T) => boolean;
  /** Targets that are kept; of more, those go that nobody has asked for longest and at which nothing is under way. @default 100 */
  readonly most?: number;
  /** After how long without a request its connections, keys and certificates are given up, ms. @default 600000 */
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
 * Other servers by what leads to them: one TLS context and one set of connections for each, made when first asked for. When what leads
 * there has changed, the old one is closed at once, with what is under way at it: nobody is to go on at a place
 * that is not meant any more, or by credentials that were taken back.
 */
export class Targets<T extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: TargetsOptions<T>;
  readonly #idleFor: number;
  /** The one that was asked for last is the last. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #closing = new Set<Promise<void>>();
  #sweep: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: TargetsOptions<T>) {
    const { most = MOST, idleFor = IDLE } = options;
    if (!(most >= 1)) throw new Error("most of targets: give at least 1");
    if (!(idleFor > 0)) throw new Error("idleFor of targets: give milliseconds above 0");
    this.#options = options;
    this.#idleFor = timerDelay(idleFor);
  }

  /** How many are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * The one of `key`, which `make` makes if there is none yet, or not of this version.
   *
   * @param version all that it is made of: URL, authorities, credentials, or what stands for them, as a generation does
   * @throws Error after the end; what `make` throws, and the one that was there is closed all the same
   */
  of(key: string, version: string, make: () => T): T {
    if (this.#closed) throw new Error("the targets were closed");
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    if (known !== undefined && known.version !== version) this.#close(known.target);
    const target = known?.version === version ? known.target : make();
    this.#kept.set(key, { target, version, usedAt: performance.now() });
    this.#forget(key);
    this.#sweep ??= setTimeout(this.#look, this.#idleFor).unref();
    return target;
  }

  /** What led there does so no more. @param unless a version that stays, if it is the one that is kept */
  delete(key: string, unless?: string): void {
    const known = this.#kept.get(key);
    if (known === undefined || known.version === unless) return;
    this.#kept.delete(key);
    this.#close(known.target);
  }

  /** Ends what is under way at all of them. */
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
    // What it says about its end is of no use to whoever asks for another.
    const closing = Promise.resolve(target[Symbol.asyncDispose]()).catch(() => undefined);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}
