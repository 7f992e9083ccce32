import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Awaitable, CacheLease, Encoded, Storage, TypedDefinition } from "@virtual-workspaces/framework";
import type { Store } from "../store.ts";
import { Entries } from "./entries.ts";
import { KeysOfSpaces } from "./keys.ts";
import { type EncodedMetadata, MetadataRecords, spaceOfKey } from "./metadata-records.ts";
import type { PersistentOptions } from "./persistent.ts";
import { SharedFollower } from "./shared-follower.ts";

/** Whose metadata a {@link MetadataCollection} has. */
export interface MetadataOptions extends Pick<PersistentOptions, "history" | "linger" | "progressEvery" | "onError"> {
  readonly store: Store;
  /** What the names of the key spaces begin with (`PersistentOptions.keySpace`), whoever writes to them. */
  readonly keySpaces: string;
}

/**
 * The metadata of all objects in key spaces whose names begin alike, of however many kinds and versions: a storage to be
 * listed and watched for metadata alone (`VirtualWorkspace.metadataOf`). Key spaces may come and go while it is watched.
 * Each object has the `apiVersion` and `kind` under which it was written, its metadata, and nothing else. Resource versions
 * are the store's revisions. Memory: these bytes, while somebody lists or watches and for {@link PersistentOptions.linger}
 * after that, and the history, which is all that watches can resume from: 410 behind it.
 *
 * Who may read it learns what objects there are of kinds that were kept apart. Objects of one logical cluster, namespace
 * and name in two of the key spaces are one here, the one that was written last.
 */
export class MetadataCollection<T extends object = object> implements Storage<ObjectOf<T>> {
  readonly resource: TypedDefinition<T>;
  readonly #follower: SharedFollower;

  /**
   * @param resource what clients are told that it is: all but its group and plural is taken as it comes
   * @throws RangeError on what no name of a key space begins with
   */
  constructor(
    resource: TypedDefinition<T>,
    { store, keySpaces, history, linger, progressEvery, onError }: MetadataOptions,
  ) {
    this.resource = resource;
    const told = (error: unknown): void => {
      if (onError !== undefined) onError(error, resource);
      else
        process.emitWarning(
          `metadata of ${resource.plural}: ${error instanceof Error ? error.message : String(error)}`,
        );
    };
    const keys = new KeysOfSpaces(keySpaces);
    const entries = new Entries(keys, new MetadataRecords(), told);
    this.#follower = new SharedFollower(
      { store, keys, entries, shown: { of: newest, isAt } },
      { history, linger, progressEvery, onError: told },
    );
  }

  cache(): Awaitable<CacheLease> {
    return this.#follower.lease();
  }

  /** The same for everybody. */
  shareKey(): string {
    return "";
  }
}

/** Of those that have one name, the one that was written last. */
function newest(objects: readonly Encoded[]): Iterable<Encoded> {
  const found = new Map<string, Encoded>();
  for (const object of objects) {
    const { cluster, namespace, name } = object.key;
    const text = `${cluster}/${namespace}/${name}`;
    const other = found.get(text);
    if (other === undefined || Number(other.resourceVersion) < Number(object.resourceVersion)) found.set(text, object);
  }
  return found.values();
}

/** One that cannot be read does not know where it was. */
function isAt(object: Encoded, key: string): boolean {
  const { space } = object as Partial<EncodedMetadata>;
  return space === undefined || space === spaceOfKey(key);
}
