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

/** Options of a {@link MetadataCollection}. */
export interface MetadataOptions extends Pick<PersistentOptions, "history" | "linger" | "progressEvery" | "onError"> {
  readonly store: Store;
  /** Prefix of the key spaces (`PersistentOptions.keySpace`), of any writer. */
  readonly keySpaces: string;
}

/**
 * Metadata of all objects in key spaces with a common prefix, of any kinds and versions: a storage for metadata-only lists
 * and watches (`VirtualWorkspace.metadataOf`). Key spaces may come and go during a watch. Each object has its written
 * `apiVersion` and `kind`, and its metadata. Resource versions are the store's revisions. Memory: these bytes, while there
 * are lists or watches and for {@link PersistentOptions.linger} afterwards, and the history; a watch cannot resume before it
 * (410).
 *
 * Security: readers learn about objects of kinds that are otherwise separate. If two key spaces hold objects with the same
 * logical cluster, namespace and name, the one written last is shown.
 */
export class MetadataCollection<T extends object = object> implements Storage<ObjectOf<T>> {
  readonly resource: TypedDefinition<T>;
  readonly #reflector: SharedReflector;

  /**
   * @param resource kind to report to clients; only its group and plural must be right
   * @throws RangeError if no key space can begin with the prefix
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

  /** Returns the same key for all callers. */
  shareKey(): string {
    return "";
  }
}

/** Returns the object written last for each name. */
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

/** An unreadable object has no known key space. */
function isAt(object: Encoded, key: string): boolean {
  const { space } = object as Partial<EncodedMetadata>;
  return space === undefined || space === spaceOfKey(key);
}

/** Encoded `apiVersion`, `kind` and `metadata` of an object in its written version, and its key space. */
interface EncodedMetadata extends Encoded {
  /** Part of its key before the logical cluster. */
  readonly space: string;
}

/** Reads metadata of objects of any kind. It slices bytes and parses nothing. */
class MetadataRecords {
  /** Cached, since entries of one key space are adjacent. */
  #space = "";

  /** @throws StoreError `Damaged` */
  read(entry: Entry, key: ObjectKey, take: Take = Buffer.allocUnsafe): EncodedMetadata {
    const { value, modRevision } = entry;
    try {
      const body = bodyOf(value);
      if (body === undefined) throw new Error("invalid record");
      const { uid, labels = NOTHING } = indexOf(value);
      const resourceVersion = String(modRevision);
      const bytes = metadataOf(body, { head: headOf(value), resourceVersion, take });
      return { key, uid, resourceVersion, labels, fields: nameFields(key), bytes, space: this.#spaceOf(entry.key) };
    } catch (cause) {
      const which = [key.cluster, key.namespace, key.name].filter((part) => part !== "").join("/");
      throw new StoreError("Damaged", `the stored object ${which} is unreadable`, { cause });
    }
  }

  /** Returns one shared text per key space. */
  #spaceOf(text: string): string {
    const space = spaceOfKey(text);
    if (space !== this.#space) this.#space = Buffer.from(space).toString();
    return this.#space;
  }
}

/** Returns the part of a key before the logical cluster. */
function spaceOfKey(text: string): string {
  return text.slice(0, text.indexOf("/"));
}

interface Cut {
  /** Offset of the first member of the metadata. */
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

/** Returns the end of the JSON object whose members start at `from`. @throws Error if it does not end */
function endOf(bytes: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  throw new Error("unterminated metadata");
}

/** Returns the closing quotation mark of a JSON string. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}
