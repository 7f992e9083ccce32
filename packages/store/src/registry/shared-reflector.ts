import type { Awaitable, CacheLease } from "@virtual-workspaces/framework/storage";
import { timerDelay } from "@virtual-workspaces/transport";
import { withApiErrors } from "./api-errors.ts";
import { Reflector, type ReflectorOptions, type ReflectorSource } from "./reflector.ts";

/** Time to keep objects in memory without readers, in ms. */
const LINGER = 60_000;

export interface SharedReflectorOptions extends ReflectorOptions {
  readonly linger?: number | undefined;
}

/** Reflector that all readers of a kind share: it starts with the first reader, and stops some time after the last. */
export class SharedReflector {
  readonly #source: ReflectorSource;
  readonly #options: SharedReflectorOptions;
  #current: Promise<Reflector> | Reflector | undefined;
  #holders = 0;
  #ending: NodeJS.Timeout | undefined;

  constructor(source: ReflectorSource, options: SharedReflectorOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** @throws ApiError 503 if the store is unavailable */
  lease(): Awaitable<CacheLease> {
    this.#holders += 1;
    clearTimeout(this.#ending);
    this.#current ??= this.#begin();
    return this.#current instanceof Promise
      ? this.#current.then((reflector) => this.#share(reflector))
      : this.#share(this.#current);
  }

  async #begin(): Promise<Reflector> {
    const reflector = new Reflector(this.#source, this.#options);
    try {
      await withApiErrors(() => reflector.start());
      this.#current = reflector;
      return reflector;
    } catch (error) {
      this.#current = undefined;
      this.#holders = 0;
      await reflector[Symbol.asyncDispose]();
      throw error;
    }
  }

  #share(reflector: Reflector): CacheLease {
    let held = true;
    return {
      cache: reflector.cache,
      ...(reflector.past && { past: reflector.past }),
      confirm: ({ signal }) => withApiErrors(() => reflector.confirm(signal)),
      [Symbol.dispose]: () => {
        if (held) this.#release(reflector);
        held = false;
      },
    };
  }

  #release(reflector: Reflector): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    const end = (): void => {
      this.#current = undefined;
      void reflector[Symbol.asyncDispose]();
    };
    this.#ending = setTimeout(end, timerDelay(this.#options.linger ?? LINGER)).unref();
  }
}
