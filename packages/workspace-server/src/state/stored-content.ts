import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { removeWith } from "./modify.ts";
import type { KindsOfClusters, StoredKind } from "./stored-kinds.ts";

/** Maximum of concurrent deletions: stores handle many at once. */
const AT_ONCE = 32;
const DELETED = Buffer.from('"deletionTimestamp"');
const HELD = Buffer.from('"finalizers"');

/** Selection of objects. */
export interface StoredContentOptions {
  readonly kinds: KindsOfClusters;
  readonly cluster: string;
  /** Limits the selection to a namespace. @default everything in the logical cluster, namespaced or not */
  readonly namespace?: string;
  /** Whether to skip a kind. @default none */
  readonly except?: (kind: StoredKind) => boolean;
}

/** Remaining objects. */
export interface RemainingContent {
  /** Number of objects of each kind, by `<plural>.<group>`, as in Kubernetes' conditions. */
  readonly objects: ReadonlyMap<string, number>;
  /** Number of objects with each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** Content of a logical cluster, or of a namespace in it, of all served kinds that can be deleted. */
export class StoredContent {
  readonly #options: StoredContentOptions;

  constructor(options: StoredContentOptions) {
    this.#options = options;
  }

  /** @throws ApiError 503 while the served kinds are unknown */
  get kinds(): readonly StoredKind[] {
    const { kinds, cluster, namespace, except } = this.#options;
    return kinds
      .in(cluster)
      .all.filter(({ deletable }) => deletable)
      .filter(({ definition }) => namespace === undefined || definition.scope === "Namespaced")
      .filter((kind) => except?.(kind) !== true);
  }

  /**
   * Deletes all objects not yet under deletion, as a client would: finalizers keep them, and dependents are left to the
   * garbage collector. Continues with other kinds after a failure.
   *
   * @returns a text for each kind with failures
   */
  async deleteAll(signal: AbortSignal): Promise<readonly string[]> {
    const failures: string[] = [];
    for (const kind of this.kinds) {
      try {
        await this.#deleteKind(kind, signal);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    return failures.sort();
  }

  /** Returns the remaining content. @throws ApiError 503 when the store cannot be read */
  async remaining(signal: AbortSignal): Promise<RemainingContent> {
    const objects = new Map<string, number>();
    const finalizers = new Map<string, number>();
    const count = (counts: Map<string, number>, name: string): void =>
      void counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const kind of this.kinds) {
      const { plural, group } = kind.definition;
      for await (const object of this.#objects(kind, signal)) {
        count(objects, `${plural}.${group}`);
        for (const finalizer of finalizersOf(object)) count(finalizers, finalizer);
      }
    }
    return { objects, finalizers };
  }

  async #deleteKind(kind: StoredKind, signal: AbortSignal): Promise<void> {
    let pending: Encoded[] = [];
    const flush = async (): Promise<void> => {
      const some = pending;
      pending = [];
      await Promise.all(some.map(({ key }) => removeWith(kind.objects, key, { policy: "Background", judged: isLeft })));
    };
    for await (const object of this.#objects(kind, signal)) {
      if (isMarked(object)) continue;
      pending.push(object);
      if (pending.length >= AT_ONCE) await flush();
    }
    await flush();
  }

  #objects({ objects }: StoredKind, signal: AbortSignal): AsyncIterable<Encoded> {
    const { cluster, namespace = "" } = this.#options;
    return objects.objectsIn({ cluster, namespace }, { signal });
  }
}

function isLeft({ metadata }: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return metadata.deletionTimestamp === undefined;
}

function isMarked(object: Encoded): boolean {
  return object.bytes.includes(DELETED) && decodeObject(object).metadata.deletionTimestamp !== undefined;
}

function finalizersOf(object: Encoded): readonly string[] {
  return object.bytes.includes(HELD) ? (decodeObject(object).metadata.finalizers ?? []) : [];
}
