import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { Awaitable, CacheLease, Encoded, Storage } from "@virtual-workspaces/framework/storage";
import type { Take } from "../engine/bytes.ts";
import type { Entry, Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { Entries } from "./entries.ts";
import { KeySpaceKeys } from "./keys.ts";
import type { PersistentOptions } from "./persistent.ts";
import { bodyOf, headOf, indexOf, nameFields } from "./record.ts";
import { SharedReflector } from "./shared-reflector.ts";

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});
const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d];

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
  readonly #reflector: SharedReflector;

  /**
   * @param resource what clients are told that it is: all but its group and plural is taken as it comes
   * @throws RangeError on what no name of a key space begins with
   */
  constructor(
    resource: TypedDefinition<T>,
    { store, keySpaces, history, linger, progressEvery, onError }: MetadataOptions,
  ) {
    this.resource = resource;
    const report = (error: unknown): void => {
      if (onError !== undefined) onError(error, resource);
      else
        process.emitWarning(
          `metadata of ${resource.plural}: ${error instanceof Error ? error.message : String(error)}`,
        );
    };
    const keys = new KeySpaceKeys(keySpaces);
    const entries = new Entries(keys, new MetadataRecords(), report);
    this.#reflector = new SharedReflector(
      { store, keys, entries, shown: { of: newest, isAt } },
      { history, linger, progressEvery, onError: report },
    );
  }

  cache(): Awaitable<CacheLease> {
    return this.#reflector.lease();
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

/** An object's `apiVersion`, `kind` and `metadata`, in the version in which it was written, and where it is. */
interface EncodedMetadata extends Encoded {
  /** The part of its key before the logical cluster. */
  readonly space: string;
}

/** Reads the metadata of objects of whichever kind. Bytes are cut, never parsed. */
class MetadataRecords {
  /** Entries of one key space come one after the other. */
  #space = "";

  /** @throws StoreError `Damaged` */
  read(entry: Entry, key: ObjectKey, take: Take = Buffer.allocUnsafe): EncodedMetadata {
    const { value, modRevision } = entry;
    try {
      const body = bodyOf(value);
      if (body === undefined) throw new Error("it is no record");
      const { uid, labels = NOTHING } = indexOf(value);
      const resourceVersion = String(modRevision);
      const bytes = metadataOf(body, { head: headOf(value), resourceVersion, take });
      return { key, uid, resourceVersion, labels, fields: nameFields(key), bytes, space: this.#spaceOf(entry.key) };
    } catch (cause) {
      const which = [key.cluster, key.namespace, key.name].filter((part) => part !== "").join("/");
      throw new StoreError("Damaged", `what is kept as ${which} cannot be read`, { cause });
    }
  }

  /** One text for all that are in the same. */
  #spaceOf(text: string): string {
    const space = spaceOfKey(text);
    if (space !== this.#space) this.#space = Buffer.from(space).toString();
    return this.#space;
  }
}

/** The part of a key before the logical cluster, of keys in key spaces. */
function spaceOfKey(text: string): string {
  return text.slice(0, text.indexOf("/"));
}

interface Cut {
  /** Where the first member of the metadata is. */
  readonly head: number;
  readonly resourceVersion: string;
  readonly take: Take;
}

function metadataOf(body: Buffer, { head, resourceVersion, take }: Cut): Buffer {
  const end = endOf(body, head);
  const member = `"resourceVersion":"${resourceVersion}",`;
  const whole = take(end + member.length + 1);
  body.copy(whole, 0, 0, head);
  whole.write(member, head, "latin1");
  body.copy(whole, head + member.length, head, end);
  whole[whole.length - 1] = CLOSE;
  return whole;
}

/** Behind the object of JSON whose members begin at `from`. @throws Error when it does not end */
function endOf(bytes: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  throw new Error("its metadata does not end");
}

/** Where a text of JSON ends: its quotation mark. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}
