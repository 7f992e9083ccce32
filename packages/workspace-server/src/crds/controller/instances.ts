import { type CacheLease, decodeObject, type Encoded } from "@virtual-workspaces/framework";
import type { LiveKind } from "../served/live-kind.ts";

/** How many objects are deleted at a time: a store takes many in one go. */
const AT_ONCE = 32;

/**
 * The objects of a definition that is being deleted: each is deleted, those that finalizers hold are waited for. It holds
 * the objects in memory as long as that takes.
 */
export class LeavingInstances implements Disposable {
  readonly #live: LiveKind;
  readonly #lease: CacheLease;
  readonly #listening: Disposable;

  private constructor(live: LiveKind, lease: CacheLease, onChange: () => void) {
    this.#live = live;
    this.#lease = lease;
    const { cache } = lease;
    this.#listening = cache.listen({
      // One that was being written when the definition was deleted, or the last one.
      event: ({ previous }) => (previous === undefined || cache.size === 0 ? onChange() : undefined),
      expired: onChange,
    });
  }

  /** @param onChange called when there is something to do again. @throws ApiError 503 when the store cannot be read */
  static async of(live: LiveKind, onChange: () => void): Promise<LeavingInstances> {
    return new LeavingInstances(live, await live.objects.cache(), onChange);
  }

  /** Deletes what nobody has deleted yet. @returns how many are left */
  async sweep(signal: AbortSignal): Promise<number> {
    const { cache } = this.#lease;
    await this.#lease.confirm({ signal });
    const waiting: Encoded[] = [];
    for (const object of cache.snapshot().objects.values()) {
      if (!isMarked(object)) waiting.push(object);
    }
    for (let at = 0; at < waiting.length; at += AT_ONCE) {
      signal.throwIfAborted();
      await Promise.all(waiting.slice(at, at + AT_ONCE).map((object) => this.#delete(object)));
    }
    if (waiting.length > 0) await this.#lease.confirm({ signal });
    return cache.size;
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.#lease[Symbol.dispose]();
  }

  #delete({ key: { cluster, namespace, name } }: Encoded): Promise<boolean> {
    return this.#live.objects.in(cluster, namespace).delete(name);
  }
}

/** What cannot be read holds nobody up. */
function isMarked(object: Encoded): boolean {
  try {
    return decodeObject(object).metadata.deletionTimestamp !== undefined;
  } catch {
    return false;
  }
}
