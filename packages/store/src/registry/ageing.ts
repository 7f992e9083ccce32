import type { WatchCache } from "@virtual-workspaces/framework";
import { delayOf } from "../engine/delay.ts";

/** How many events stay, however old they are (Kubernetes' watch cache shrinks to as many). */
const KEPT = 100;
/** How often in that time it looks: what is forgotten is half as old again at most. */
const LOOKS = 2;

/** Has a cache forget what is old, until disposed of: a server is no larger after a storm than before it. */
export class Ageing implements Disposable {
  readonly #cache: WatchCache;
  readonly #timer: NodeJS.Timeout;
  /** Where the cache was at each look within that time, the last one last. */
  readonly #marks: number[] = [];

  /** @param age s */
  constructor(cache: WatchCache, age: number) {
    this.#cache = cache;
    this.#timer = setInterval(() => this.#look(), delayOf((age * 1000) / LOOKS)).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#marks.push(this.#cache.next);
    const old = this.#marks.length > LOOKS ? this.#marks.shift() : undefined;
    if (old !== undefined) this.#cache.forget(old, KEPT);
  }
}
