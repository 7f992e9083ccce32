import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ObjectFeed } from "@virtual-workspaces/store";

/** How long what was admitted counts before it has come, ms: it may also have failed, and will never come. */
const COMES_WITHIN = 2_000;

/** What is not counted, so that a workspace that is full can be looked into: events go by themselves. */
const UNCOUNTED: ReadonlySet<string> = new Set(["/events", "events.k8s.io/events"]);

/**
 * How many objects each logical cluster of a shard has, of all kinds but events: a number for each logical cluster, from the
 * one watch of the shard. What was admitted and is on its way counts as well, so that many at a time do not get past a limit.
 */
export class ObjectCounts implements Disposable {
  readonly #feed: ObjectFeed;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  /** Until when, by `<namespace>/<name>`. */
  readonly #coming = new Map<string, Map<string, number>>();
  readonly #following: Disposable;

  constructor(feed: ObjectFeed, now: () => number = () => performance.now()) {
    this.#feed = feed;
    this.#now = now;
    this.#following = feed.on({
      began: () => this.#counts.clear(),
      set: ({ space, key, isNew }) => {
        if (!UNCOUNTED.has(space) && (isNew || !feed.isSynced)) this.#add(key, 1);
      },
      deleted: ({ space, key }) => {
        if (!UNCOUNTED.has(space)) this.#add(key, -1);
      },
    });
  }

  /** `undefined` while they are being counted. */
  in(cluster: string): number | undefined {
    if (!this.#feed.isSynced) return undefined;
    return (this.#counts.get(cluster) ?? 0) + this.#comingTo(cluster);
  }

  /** Counts one that will be there shortly; one that does not come counts no longer than that. */
  expect({ cluster, namespace, name }: ObjectKey): void {
    const coming = this.#coming.get(cluster) ?? new Map<string, number>();
    coming.set(`${namespace}/${name}`, this.#now() + COMES_WITHIN);
    this.#coming.set(cluster, coming);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  #add({ cluster, namespace, name }: ObjectKey, by: 1 | -1): void {
    const count = (this.#counts.get(cluster) ?? 0) + by;
    if (count > 0) this.#counts.set(cluster, count);
    else this.#counts.delete(cluster);
    if (by > 0) this.#coming.get(cluster)?.delete(`${namespace}/${name}`);
  }

  #comingTo(cluster: string): number {
    const coming = this.#coming.get(cluster);
    if (coming === undefined) return 0;
    const now = this.#now();
    for (const [key, until] of coming) if (until <= now) coming.delete(key);
    if (coming.size === 0) this.#coming.delete(cluster);
    return coming.size;
  }
}
