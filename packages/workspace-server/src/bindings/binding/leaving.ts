import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type CacheLease, decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { type APIBinding, clusterOf } from "@virtual-workspaces/kcp";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { ShardState } from "../../state/shard-state.ts";
import { objectsOf } from "../claims/claim-labels.ts";
import type { Exports } from "../exports/exports.ts";
import type { BoundKinds } from "../served/bound-kinds.ts";
import { type BoundPair, pairsOf } from "../served/own-kind.ts";

/** Options of {@link LeavingObjects}. */
export interface LeavingOptions {
  readonly state: ShardState;
  readonly exports: Exports;
  readonly kinds: BoundKinds;
  /** Called when a binding needs another pass. */
  readonly again: (key: ObjectKey) => void;
}

/** Reason why a binding cannot be deleted yet. */
export interface Remaining {
  readonly reason: "ResourceDeletionFailed" | "SomeFinalizersRemain" | "SomeResourcesRemain";
  readonly message: string;
}

interface Deleting {
  readonly key: ObjectKey;
  readonly signal: AbortSignal;
  /** Resources to release when the wait ends. */
  readonly held: DisposableStack;
}

/** Number of objects deleted concurrently. */
const AT_ONCE = 32;

/**
 * Deletes the objects of bindings that are being deleted, and waits, without a timer, for those with finalizers.
 * Objects that another binding of the logical cluster also has stay.
 */
export class LeavingObjects implements Disposable {
  readonly #options: LeavingOptions;
  readonly #waiting = new Map<string, Disposable>();

  constructor(options: LeavingOptions) {
    this.#options = options;
  }

  /** Deletes the objects. @returns what is left; `undefined` when nothing is. @throws ApiError of the store */
  async sweep(binding: APIBinding, key: ObjectKey, signal: AbortSignal): Promise<Remaining | undefined> {
    const counts = new Map<string, number>();
    const finalizers = new Map<string, number>();
    this.end(key);
    using held = new DisposableStack();
    for (const pair of pairsOf(binding)) {
      if (this.#isAdopted(pair, binding, key.cluster)) continue;
      const objects = this.#options.kinds.liveOf(pair)?.objects;
      if (objects === undefined) {
        const message = `${pair.resource}.${pair.group} is currently unavailable`;
        return { reason: "ResourceDeletionFailed", message };
      }
      const left = await this.#delete(objects, { key, signal, held });
      if (left.length > 0) counts.set(`${pair.resource}.${pair.group}`, left.length);
      for (const name of left.flatMap(finalizersOf)) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
    }
    if (counts.size === 0) return undefined;
    this.#waiting.set(textOf(key), held.move());
    return remaining(counts, finalizers);
  }

  /** Stops waiting for a binding, which is gone or no longer to be deleted. */
  end(key: ObjectKey): void {
    const text = textOf(key);
    this.#waiting.get(text)?.[Symbol.dispose]();
    this.#waiting.delete(text);
  }

  [Symbol.dispose](): void {
    for (const waiting of this.#waiting.values()) waiting[Symbol.dispose]();
    this.#waiting.clear();
  }

  async #delete(objects: PersistentCollection, { key, signal, held }: Deleting): Promise<Encoded[]> {
    const lease = held.use(await objects.cache());
    await lease.confirm({ signal });
    const there = [...objectsOf(lease, key.cluster)].filter((object) => !isMarked(object));
    for (let at = 0; at < there.length; at += AT_ONCE) {
      signal.throwIfAborted();
      const some = there.slice(at, at + AT_ONCE);
      await Promise.all(
        some.map(({ key: { cluster, namespace, name } }) => objects.in(cluster, namespace).delete(name)),
      );
    }
    if (there.length > 0) await lease.confirm({ signal });
    const left = [...objectsOf(lease, key.cluster)];
    if (left.length > 0) held.use(this.#follow(key, lease));
    return left;
  }

  /** Requests another pass when an object of the logical cluster changes. */
  #follow(key: ObjectKey, { cache }: CacheLease): Disposable {
    return cache.listen({
      event: ({ key: { cluster } }) => (cluster === key.cluster ? this.#options.again(key) : undefined),
      expired: () => this.#options.again(key),
    });
  }

  #isAdopted(pair: BoundPair, binding: APIBinding, cluster: string): boolean {
    const { state, exports } = this.#options;
    return state.apiBindings.store.list(cluster).some((other) => {
      if (other.metadata.uid === binding.metadata.uid || other.metadata.deletionTimestamp !== undefined) return false;
      const found = exports.of(other);
      // While a shard that may have the export does not run, the binding's status decides.
      if (found === undefined && exports.missing.length > 0)
        return pairsOf(other).some(({ identity, uid }) => identity === pair.identity && uid === pair.uid);
      if (found === undefined || found.status?.identityHash !== pair.identity) return false;
      return (found.spec?.resources ?? []).some(({ group, name, schema }) => {
        const there = clusterOf(found);
        const isSame = group === pair.group && name === pair.resource;
        return isSame && exports.schema(there, schema)?.metadata.uid === pair.uid;
      });
    });
  }
}

function remaining(counts: ReadonlyMap<string, number>, finalizers: ReadonlyMap<string, number>): Remaining {
  const list = (of: ReadonlyMap<string, number>, text: (name: string, count: number) => string): string =>
    [...of]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, count]) => text(name, count))
      .join(", ");
  if (finalizers.size > 0) {
    const names = list(finalizers, (name, count) => `${name} in ${count} resource instances`);
    return {
      reason: "SomeFinalizersRemain",
      message: `Some content in the workspace has finalizers remaining: ${names}`,
    };
  }
  const names = list(counts, (name, count) => `${name} has ${count} resource instances`);
  return { reason: "SomeResourcesRemain", message: `Some resources are remaining: ${names}` };
}

function metadataOf(object: Encoded): { readonly deletionTimestamp?: string; readonly finalizers?: string[] } {
  try {
    return decodeObject(object).metadata as ReturnType<typeof metadataOf>;
  } catch {
    return {};
  }
}

const isMarked = (object: Encoded): boolean => metadataOf(object).deletionTimestamp !== undefined;
const finalizersOf = (object: Encoded): readonly string[] => metadataOf(object).finalizers ?? [];

function textOf({ cluster, name }: ObjectKey): string {
  return `${cluster}/${name}`;
}
