import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { keyText } from "@virtual-workspaces/client/queue";
import type { ObjectFeed, StoredPlace } from "@virtual-workspaces/store";
import type { Clock } from "@virtual-workspaces/transport";
import type { StoredObjects } from "../../state/stored-kinds.ts";

/** Interval between two counts of the same objects, in ms: each reads all of them. */
const EVERY = 1_000;

/** Objects to count. */
export interface CountedObjects {
  readonly objects: Pick<StoredObjects, "countIn" | "objectsIn" | "space">;
  readonly labels: LabelSelector;
}

/** Number of objects, and when to count again at the earliest, if the number may be old. */
export interface ObjectCount {
  readonly count: number;
  readonly again: number | undefined;
}

interface Counted {
  readonly key: ObjectKey;
  readonly place: string;
  readonly labels: string;
  readonly at: number;
  count: number;
  /** Whether objects have changed since. */
  isOld: boolean;
}

/** Counts the objects of ClusterCachedResources, at most once a second for each. Memory: a number for each of them. */
export class ObjectCounts implements Disposable {
  readonly #clock: Clock;
  readonly #counted = new Map<string, Counted>();
  readonly #byPlace = new Map<string, Set<Counted>>();
  readonly #following: Disposable;

  /** @param changed called when the objects of a ClusterCachedResource may have changed */
  constructor(
    { feed, clock }: { readonly feed: ObjectFeed; readonly clock: Clock },
    changed: (key: ObjectKey) => void,
  ) {
    this.#clock = clock;
    const heard = (counted: Iterable<Counted>, matters: (one: Counted) => boolean = () => true): void => {
      for (const one of counted) {
        // An old number already has a reconcile in the queue, or one that waits for the next count.
        if (one.isOld || !matters(one)) continue;
        one.isOld = true;
        changed(one.key);
      }
    };
    const at = ({ space, key }: StoredPlace): Iterable<Counted> => this.#byPlace.get(placeOf(space, key.cluster)) ?? [];
    this.#following = feed.on({
      // Without a selector, changes of an object do not change the number.
      set: (object) => heard(at(object), ({ labels }) => object.isNew || labels !== ""),
      deleted: (object) => heard(at(object)),
      synced: () => heard(this.#counted.values()),
    });
  }

  /** @throws ApiError 503 when the store cannot be read */
  async of(key: ObjectKey, { objects, labels }: CountedObjects, signal: AbortSignal): Promise<ObjectCount> {
    const place = placeOf(objects.space, key.cluster);
    const before = this.#counted.get(keyText(key));
    const now = this.#clock.now();
    if (before?.place === place && before.labels === labels.toString()) {
      if (!before.isOld) return { count: before.count, again: undefined };
      const wait = before.at + EVERY - now;
      if (wait > 0) return { count: before.count, again: wait };
    }
    this.forget(key);
    // Changes from now on make the number old, even if it includes them.
    const counted: Counted = { key, place, labels: labels.toString(), count: 0, at: now, isOld: false };
    this.#add(counted);
    try {
      counted.count = await counter(key.cluster, { objects, labels }, signal);
      return { count: counted.count, again: undefined };
    } catch (error) {
      this.forget(key);
      throw error;
    }
  }

  forget(key: ObjectKey): void {
    const before = this.#counted.get(keyText(key));
    if (before === undefined) return;
    this.#counted.delete(keyText(key));
    const there = this.#byPlace.get(before.place);
    there?.delete(before);
    if (there?.size === 0) this.#byPlace.delete(before.place);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  #add(counted: Counted): void {
    this.#counted.set(keyText(counted.key), counted);
    const there = this.#byPlace.get(counted.place) ?? new Set();
    this.#byPlace.set(counted.place, there.add(counted));
  }
}

function placeOf(space: string, cluster: string): string {
  return `${space} ${cluster}`;
}

async function counter(cluster: string, { objects, labels }: CountedObjects, signal: AbortSignal): Promise<number> {
  let count = 0;
  if (labels.empty) {
    const { byNamespace } = await objects.countIn(cluster, { signal });
    for (const some of byNamespace.values()) count += some;
    return count;
  }
  for await (const object of objects.objectsIn({ cluster, namespace: "" }, { signal }))
    if (labels.matches(object.labels)) count += 1;
  return count;
}
