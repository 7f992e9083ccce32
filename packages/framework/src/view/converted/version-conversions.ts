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
  /** Of the version that is made. */
  readonly selectableFields: readonly SelectableField[];
  /** The most that converted objects may weigh which are kept to be shown again, bytes. */
  readonly capacity: number;
  /** Told when something more is kept. */
  readonly onKept: () => void;
}

/**
 * Encoded objects in another version. What is made is shared by all who read it and kept as long as there is room, the
 * least recently used forgotten first: it can be made again.
 */
export class Conversions {
  readonly #options: ConversionsOptions;
  /** In the order of use. */
  readonly #made = new Map<Encoded, Encoded>();
  readonly #stands = new WeakMap<Encoded, Encoded>();
  #weight = 0;

  constructor(options: ConversionsOptions) {
    this.#options = options;
  }

  /** What stands for an object in the other version, and is converted when something is read of it. */
  of(source: Encoded): Encoded {
    let stand = this.#stands.get(source);
    if (stand === undefined) {
      stand = new Converting(source, this);
      this.#stands.set(source, stand);
    }
    return stand;
  }

  /** The object converted. @throws ApiError when it cannot be */
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

  /** Nobody reads any more. */
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

/** An object that is converted when it is read: what a list skips, and who only counts, costs nothing. */
class Converting implements Encoded {
  readonly key: Encoded["key"];
  readonly resourceVersion: string;
  readonly uid: string;
  readonly #source: Encoded;
  readonly #conversions: Conversions;
  /** Outlasts what is made: it tells as well that it can be made. */
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

/** One way between two versions of a kind. */
interface ConversionOptions {
  readonly from: ResourceDefinition;
  readonly to: ResourceDefinition;
  /** Given a copy. @default nothing changes but `apiVersion` (`None` of a CustomResourceDefinition) */
  readonly convert?: ((object: KubeObject) => object) | undefined;
  /** Told of every failure. */
  readonly onError: (error: unknown, object: string) => void;
}

/**
 * Makes an object of one version one of another. As Kubernetes demands of conversion webhooks, nothing of its metadata may
 * become another but labels and annotations.
 *
 * @throws ApiError what the author's function throws; 500 when it throws anything else or breaks a rule, which is named
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

/** Something that a conversion may not do. Its text is for clients. */
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
