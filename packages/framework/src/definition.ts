import {
  apiVersionOf,
  type GroupResource,
  type JsonSchema,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { ProtobufMessage } from "./body/protobuf/message.ts";

/** A kind as it is served: names, schema, columns. Immutable; `hash` is equal exactly when all of it is. */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Schema of the whole object, without `apiVersion`, `kind` and `metadata`, which every object has. */
  readonly schema: JsonSchema;
  /** Whether the first object that needs the schema compiles it, and rejects it if it is invalid. */
  readonly lazySchema?: boolean | undefined;
  readonly columns: readonly TableColumn[];
  readonly selectableFields: readonly SelectableField[];
  readonly subresources: Subresources;
  /** Time a deleted object gets for its termination, s. 0: it is removed as soon as no finalizer holds it. */
  readonly gracePeriodSeconds: number;
  /** Protobuf message that typed Go clients send. */
  readonly protobuf?: ProtobufMessage | undefined;
  /** Write rules besides the schema. */
  readonly strategy?: Strategy | undefined;
  readonly hash: string;
}

/** Kubernetes' own subresources of a kind. */
export interface Subresources {
  /** Whether `/status` writes `.status` alone, and other writes never do. */
  readonly status: boolean;
  /**
   * Names of further subresources that write `.status` alone, as `/approval` of certificate signing requests does. The kind's
   * {@link Strategy} says which of its fields each may change.
   * @default none
   */
  readonly statusParts?: readonly string[];
  /** Paths that `/scale` reads and writes. */
  readonly scale?: ScalePaths;
}

/** Fields behind `/scale` (apiextensions' CustomResourceSubresourceScale): JSON paths of plain fields. */
export interface ScalePaths {
  /** Path of the desired replicas, below `.spec`. */
  readonly specReplicasPath: string;
  /** Path of the observed replicas, below `.status`. */
  readonly statusReplicasPath: string;
  /** Path of the label selector in text form, below `.spec` or `.status`. */
  readonly labelSelectorPath?: string;
}

/** A kind that carries the type of its objects. */
export interface TypedDefinition<T> extends ResourceDefinition {
  /** Carries the type; never set. */
  readonly type?: (object: T) => T;
}

/** Returns the name of a kind in messages, as Kubernetes writes it: `quotes.example.dev`. */
export function groupResourceOf(definition: ResourceDefinition): GroupResource {
  return { group: definition.group, resource: definition.plural };
}

/**
 * Write rules of a kind besides its schema (the strategies, defaults and validations of Kubernetes' registry). Custom kinds
 * need none: it exists so that Kubernetes' own kinds can be served as clients know them. Every write calls the functions, a
 * retried write more than once: they must be fast and depend on their arguments only. Functions that set something replace
 * members of the object and never change values inside them.
 *
 * @typeParam T the kind's objects
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** Format of names: a DNS subdomain, a DNS label, or any path segment (`system:admin`). @default "subdomain" */
  readonly names?: "subdomain" | "label" | "segment";
  /** Whether `metadata.generation` counts changes of the desired state. @default true */
  readonly generation?: boolean;
  /**
   * Whether an update without `metadata.resourceVersion` replaces the current object (AllowUnconditionalUpdate). Such an
   * update overwrites concurrent changes of others.
   * @default false, such an update is 422
   */
  readonly unconditionalUpdate?: boolean;
  /**
   * Whether an update creates a missing object (AllowCreateOnUpdate), for callers who may create.
   * @default false, it is 404
   */
  readonly createOnUpdate?: boolean;
  /**
   * Fills in, in place, defaults that a schema cannot express. Runs on the object as it was sent, after the schema's own
   * defaults and before field ownership is computed. Throws an `ApiError` for an object that cannot be read.
   */
  readonly defaults?: (object: T) => void;
  /**
   * Sets, in place, fields that clients cannot write: before validation, after admission. `before` is `undefined` for a new
   * object.
   */
  readonly prepare?: (object: T, before: T | undefined, subresource: string) => void;
  /**
   * Paths of fields that `prepare` resets in a write of a subresource ("" for the object itself), besides those that `/status`
   * separates (GetResetFields). No field manager owns them.
   */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Returns violations besides those of the schema and the metadata rules; runs after admission. */
  readonly problems?: (object: T, before: T | undefined, subresource: string) => readonly StatusCause[];
  /** Whether something besides finalizers holds an object that is to be deleted. @default only finalizers do */
  readonly isHeld?: (object: T) => boolean;
  /** Whether a delete returns the deleted object (ReturnDeletedObject). @default false, it returns a Status */
  readonly returnDeleted?: boolean;
  /** Sets, in place, the fields of a held object that mark its deletion. */
  readonly marked?: (object: T) => void;
}

/**
 * A version of a kind, converted from another one. Both conversions throw an `ApiError` when the object cannot be converted.
 */
export interface KindVersion {
  readonly definition: ResourceDefinition;
  /** Version it is converted from: the stored one, or another converted one. */
  readonly of: ResourceDefinition;
  /** Converts an object of that version to this one. */
  readonly read: (object: KubeObject) => KubeObject;
  /** Converts an object back. */
  readonly write: (object: KubeObject) => KubeObject;
}

/** Caches a value made from all versions of a kind, until a version is added: that may happen while the kind is served. */
export function perVersions<R>(versions: KindVersions | undefined, make: () => R): () => R {
  let made: { readonly result: R; readonly size: number } | undefined;
  return () => {
    const size = versions?.size ?? 0;
    if (made?.size !== size) made = { result: make(), size };
    return made.result;
  };
}

/** Versions of a kind: the stored one, and the others that are served. */
export class KindVersions {
  readonly #kept: ResourceDefinition;
  readonly #others = new Map<string, KindVersion>();

  constructor(kept: ResourceDefinition) {
    this.#kept = kept;
  }

  /** Number of versions besides the stored one. */
  get size(): number {
    return this.#others.size;
  }

  /** @throws Error when a version of that name exists */
  add(version: KindVersion): void {
    const apiVersion = apiVersionOf(version.definition);
    if (this.#others.has(apiVersion) || apiVersion === apiVersionOf(this.#kept))
      throw new Error(
        `version ${apiVersion} of ${version.definition.plural} is already defined: define each version once`,
      );
    this.#others.set(apiVersion, version);
  }

  /** All versions. */
  get definitions(): readonly ResourceDefinition[] {
    return [this.#kept, ...Array.from(this.#others.values(), ({ definition }) => definition)];
  }

  /** Returns the schemas of all versions but one. */
  schemasBeside(apiVersion: string): ReadonlyMap<string, JsonSchema> {
    const entries = this.definitions.map((definition) => [apiVersionOf(definition), definition.schema] as const);
    return new Map(entries.filter(([version]) => version !== apiVersion));
  }

  /** Converts an object to another version. @throws ApiError what the conversion throws */
  convert(object: KubeObject, apiVersion: string): KubeObject {
    return this.#made(this.#asKept(object), apiVersion);
  }

  #asKept(object: KubeObject): KubeObject {
    const version = this.#others.get(object.apiVersion);
    return version === undefined ? object : this.#asKept(version.write(object));
  }

  #made(kept: KubeObject, apiVersion: string): KubeObject {
    const version = this.#others.get(apiVersion);
    return version === undefined ? kept : version.read(this.#made(kept, apiVersionOf(version.of)));
  }
}

/** A verb on objects, by Kubernetes' name. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** A field that selectors may name besides `metadata.name` and `metadata.namespace`. */
export interface SelectableField {
  /** Name in selectors, without the leading dot: `spec.author`. */
  readonly name: string;
  /** Returns the field's values in an object; the first one counts. */
  readonly read: (object: unknown) => readonly unknown[];
}
