import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { removeWith } from "./modify.ts";
import type { KindsOfClusters, StoredKind } from "./stored-kinds.ts";

/** How many objects are deleted at a time: a store takes many in one go. */
const AT_ONCE = 32;
const DELETED = Buffer.from('"deletionTimestamp"');
const HELD = Buffer.from('"finalizers"');

/** Which objects are meant. */
export interface StoredContentOptions {
  readonly kinds: KindsOfClusters;
  readonly cluster: string;
  /** Only what is in this namespace. @default everything in the logical cluster, in namespaces or not */
  readonly namespace?: string;
  /** Kinds that are left alone. @default none */
  readonly except?: (kind: StoredKind) => boolean;
}

/** What is still there. */
export interface RemainingContent {
  /** How many objects there are of each kind, by `<plural>.<group>`, as Kubernetes names it in conditions. */
  readonly objects: ReadonlyMap<string, number>;
  /** How many objects each finalizer is on. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** What is in a logical cluster, or in a namespace of it: of all kinds that are served there and that can be deleted. */
export class StoredContent {
  readonly #options: StoredContentOptions;

  constructor(options: StoredContentOptions) {
    this.#options = options;
  }

  /** @throws ApiError 503 when it is not known yet what is served */
  get kinds(): readonly StoredKind[] {
    const { kinds, cluster, namespace, except } = this.#options;
    return kinds
      .in(cluster)
      .all.filter(({ deletable }) => deletable)
      .filter(({ definition }) => namespace === undefined || definition.scope === "Namespaced")
      .filter((kind) => except?.(kind) !== true);
  }

  /**
   * Deletes all that nobody has deleted yet, as a client would: what finalizers hold is marked, dependents are left to the
   * garbage collector. Goes on with other kinds where one fails.
   *
   * @returns why some could not be deleted, a text for each kind
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

  /** What is there now. @throws ApiError 503 when the store cannot be read */
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
