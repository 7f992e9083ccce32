import {
  ApiError,
  apiVersionOf,
  formatGroupResource,
  isApiError,
  isJsonObject,
  type KubeObject,
  type ObjectMeta,
  quote,
} from "@virtual-workspaces/apimachinery";
import { cloneJson, equalJson, memberOf } from "@virtual-workspaces/apimachinery/json";
import { groupResourceOf, type ResourceDefinition, type SelectableField } from "../../definition.ts";
import { decodeObject, type Encoded, encodeObject } from "../../watch/cache/encoded.ts";

export interface ConversionsOptions {
  readonly convert: (object: KubeObject) => KubeObject;
  /** Selectable fields of the resulting version. */
  readonly selectableFields: readonly SelectableField[];
  /** Maximum total size of converted objects that stay in memory, in bytes. */
  readonly capacity: number;
  /** Called when another object was stored. */
  readonly onKept: () => void;
}

/**
 * Encoded objects in another version. All readers share a converted object. When there is no room, the least recently used is
 * dropped and converted again on demand.
 */
export class Conversions {
  readonly #options: ConversionsOptions;
  /** Converted objects in the order of use. */
  readonly #made = new Map<Encoded, Encoded>();
  readonly #stands = new WeakMap<Encoded, Encoded>();
  #weight = 0;

  constructor(options: ConversionsOptions) {
    this.#options = options;
  }

  /** Returns an object of the other version that is converted when a property of it is read. */
  of(source: Encoded): Encoded {
    let stand = this.#stands.get(source);
    if (stand === undefined) {
      stand = new Converting(source, this);
      this.#stands.set(source, stand);
    }
    return stand;
  }

  /** Returns the converted object. @throws ApiError when the conversion fails */
  made(source: Encoded): Encoded {
    const known = this.#made.get(source);
    if (known !== undefined) {
      this.#made.delete(source);
      this.#made.set(source, known);
      return known;
    }
    const { convert, selectableFields, capacity, onKept } = this.#options;
    const made = encodeObject(convert(decodeObject(source)), source.key.cluster, selectableFields);
    if (made.bytes.length > capacity) return made;
    this.#made.set(source, made);
    this.#weight += made.bytes.length;
    this.#shed();
    onKept();
    return made;
  }

  /** Drops all converted objects. */
  forget(): void {
    this.#made.clear();
    this.#weight = 0;
  }

  #shed(): void {
    for (const [source, { bytes }] of this.#made) {
      if (this.#weight <= this.#options.capacity) return;
      this.#made.delete(source);
      this.#weight -= bytes.length;
    }
  }
}

/** An object that is converted when it is read, so that skipping or counting it costs nothing. */
class Converting implements Encoded {
  readonly key: Encoded["key"];
  readonly resourceVersion: string;
  readonly uid: string;
  readonly #source: Encoded;
  readonly #conversions: Conversions;
  /** Stays when the converted object is dropped, and shows that the conversion succeeded. */
  #length: number | undefined;

  constructor(source: Encoded, conversions: Conversions) {
    this.key = source.key;
    this.resourceVersion = source.resourceVersion;
    this.uid = source.uid;
    this.#source = source;
    this.#conversions = conversions;
  }

  get labels(): Encoded["labels"] {
    return this.#made().labels;
  }

  get fields(): Encoded["fields"] {
    return this.#made().fields;
  }

  get bytes(): Buffer {
    return this.#made().bytes;
  }

  get length(): number {
    return this.#length ?? this.#made().bytes.length;
  }

  #made(): Encoded {
    const made = this.#conversions.made(this.#source);
    this.#length = made.bytes.length;
    return made;
  }
}

/** Conversion in one direction between two versions of a kind. */
interface ConversionOptions {
  readonly from: ResourceDefinition;
  readonly to: ResourceDefinition;
  /** Converts a copy. @default changes only `apiVersion` (`None` of a CustomResourceDefinition) */
  readonly convert?: ((object: KubeObject) => object) | undefined;
  /** Called on every failure. */
  readonly onError: (error: unknown, object: string) => void;
}

/**
 * Returns a function that converts objects. As Kubernetes demands of conversion webhooks, only labels and annotations of the
 * metadata may change.
 *
 * @throws ApiError of the author's function; 500 when it throws anything else or breaks a rule, which the error names
 */
export function conversion({ from, to, convert, onError }: ConversionOptions): (object: KubeObject) => KubeObject {
  return (object) => {
    const { metadata } = object;
    try {
      const made = convert === undefined ? object : convert(cloneJson(object));
      if (!isJsonObject(made)) throw new BrokenRule("the result must be an object");
      const { apiVersion: _version, kind: _kind, metadata: given, ...content } = made;
      return { apiVersion: apiVersionOf(to), kind: to.kind, metadata: withChanges(metadata, given), ...content };
    } catch (error) {
      onError(error, metadata.name ?? "");
      if (isApiError(error)) throw error;
      const why = error instanceof BrokenRule ? `: ${error.message}` : "";
      const what = `${formatGroupResource(groupResourceOf(from))} ${quote(metadata.name ?? "")}`;
      throw ApiError.internalError(`conversion of ${what} from ${from.version} to ${to.version} failed${why}`);
    }
  };
}

/** A rule that a conversion broke. Clients see its message. */
class BrokenRule extends Error {}

const CHANGEABLE: readonly string[] = ["labels", "annotations"];

function withChanges(metadata: ObjectMeta, given: unknown): ObjectMeta {
  if (given === undefined) return metadata;
  if (!isJsonObject(given)) throw new BrokenRule("metadata must be an object");
  for (const name of Object.keys(given)) {
    const before = memberOf(metadata as Record<string, unknown>, name);
    if (!CHANGEABLE.includes(name) && given[name] !== undefined && !equalJson(given[name], before ?? null))
      throw new BrokenRule(`metadata.${name} must not change: a conversion may change labels and annotations only`);
  }
  const { labels, annotations, ...kept } = metadata;
  return {
    ...kept,
    ...changed("labels", given["labels"] ?? labels),
    ...changed("annotations", given["annotations"] ?? annotations),
  };
}

function changed(name: "labels" | "annotations", value: unknown): ObjectMeta {
  if (value === undefined) return {};
  if (!isJsonObject(value) || !Object.values(value).every((text) => typeof text === "string"))
    throw new BrokenRule(`metadata.${name} must be a map of strings`);
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}
