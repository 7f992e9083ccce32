import type { Awaitable, CacheLease } from "@virtual-workspaces/framework";
import { delayOf } from "../engine/timers.ts";
import { answered } from "./api-errors.ts";
import { type Followed, Follower, type FollowerOptions } from "./reflector.ts";

/** How long objects stay in memory when nobody reads them, ms. */
const LINGER = 60_000;

export interface SharedFollowerOptions extends FollowerOptions {
  readonly linger?: number | undefined;
}

/** One follower for all readers of a kind: it begins with the first and ends some time after the last. */
export class SharedFollower {
  readonly #followed: Followed;
  readonly #options: SharedFollowerOptions;
  #current: Promise<Follower> | Follower | undefined;
  #holders = 0;
  #ending: NodeJS.Timeout | undefined;

  constructor(followed: Followed, options: SharedFollowerOptions) {
    this.#followed = followed;
    this.#options = options;
  }

  /** @throws ApiError 503 when the store cannot be read */
  lease(): Awaitable<CacheLease> {
    this.#holders += 1;
    clearTimeout(this.#ending);
    this.#current ??= this.#begin();
    return this.#current instanceof Promise
      ? this.#current.then((follower) => this.#share(follower))
      : this.#share(this.#current);
  }

  async #begin(): Promise<Follower> {
    const follower = new Follower(this.#followed, this.#options);
    try {
      await answered(() => follower.start());
      this.#current = follower;
      return follower;
    } catch (error) {
      this.#current = undefined;
      this.#holders = 0;
      await follower[Symbol.asyncDispose]();
      throw error;
    }
  }

  #share(follower: Follower): CacheLease {
    let held = true;
    return {
      cache: follower.cache,
      ...(follower.past && { past: follower.past }),
      confirm: ({ signal }) => answered(() => follower.confirm(signal)),
      [Symbol.dispose]: () => {
        if (held) this.#release(follower);
        held = false;
      },
    };
  }

  #release(follower: Follower): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    const end = (): void => {
      this.#current = undefined;
      void follower[Symbol.asyncDispose]();
    };
    this.#ending = setTimeout(end, delayOf(this.#options.linger ?? LINGER)).unref();
  }
}
