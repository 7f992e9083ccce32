// Source of a view that fails on demand, like another server: it is down, silent or forbidden, and recovers with or without
// its history. Its objects are a collection, which can change in the meantime.
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Collection, TypedDefinition, ViewSource } from "@virtual-workspaces/framework";
import { type CacheLease, WatchCache } from "@virtual-workspaces/framework/storage";

export type Fault = "down" | "hung" | "forbidden";

export class FaultySource<T extends object> implements ViewSource<T> {
  readonly resource: TypedDefinition<T>;
  /** Current objects, whether or not readers can see them. */
  readonly objects: Collection<T>;
  /** Number of calls that read or confirmed a cache. */
  readonly asked = { cache: 0, confirm: 0 };
  readonly #cache: WatchCache;
  #fault: Fault | undefined;
  /** Version up to which readers have received events. */
  #told = 0;
  #changed = Promise.withResolvers<void>();

  constructor(objects: Collection<T>) {
    this.resource = objects.resource;
    this.objects = objects;
    const { cache } = objects.cache();
    this.#cache = new WatchCache({ version: cache.head });
    this.#reset("");
    // Open streams outlive the permission with which they were opened.
    const isTold = (): boolean => this.#fault === undefined || this.#fault === "forbidden";
    cache.listen({ event: () => isTold() && this.#follow(), expired: () => undefined });
  }

  cache(): Promise<CacheLease> {
    this.asked.cache += 1;
    return this.#answer(() => ({
      cache: this.#cache,
      confirm: () => {
        this.asked.confirm += 1;
        return this.#fault === undefined ? undefined : this.#answer(() => undefined);
      },
      [Symbol.dispose]: () => undefined,
    }));
  }

  break(fault: Fault): void {
    this.#fault = fault;
    this.#wake();
  }

  /** @param lost whether the history is lost: readers then get a new state instead */
  mend({ lost = false }: { readonly lost?: boolean } = {}): void {
    this.#fault = undefined;
    if (lost) this.#reset("lost");
    else this.#follow();
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #answer<R>(answer: () => R): Promise<R> {
    while (this.#fault === "hung") await this.#changed.promise;
    if (this.#fault === "down") throw new Error("connect ECONNREFUSED 10.0.0.7:6443");
    if (this.#fault === "forbidden") throw new ApiError({ ...FORBIDDEN });
    return answer();
  }

  #reset(message: string): void {
    const { cache } = this.objects.cache();
    const { objects, version, next } = cache.snapshot();
    this.#cache.reset(objects.values(), version, message);
    this.#told = next;
  }

  #follow(): void {
    const { cache } = this.objects.cache();
    if (this.#told < cache.first) {
      this.#reset("too old");
      return;
    }
    for (; this.#told < cache.next; this.#told++) {
      const { object, key, version } = cache.event(this.#told);
      if (object === undefined) this.#cache.delete(key, version);
      else this.#cache.set(object, version);
    }
  }
}

const FORBIDDEN = {
  code: 403,
  reason: "Forbidden",
  message: "no",
  status: "Failure",
  apiVersion: "v1",
  kind: "Status",
  metadata: {},
} as const;
