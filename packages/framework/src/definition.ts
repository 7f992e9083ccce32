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
  /** Of the whole object, without `apiVersion`, `kind` and `metadata`, which every object has. */
  readonly schema: JsonSchema;
  /** Whether the schema is compiled, and refused if it must be, with the first object that needs it. */
  readonly lazySchema?: boolean | undefined;
  readonly columns: readonly TableColumn[];
  readonly selectableFields: readonly SelectableField[];
  readonly subresources: Subresources;
  /** How long a deleted object may take to end by itself, s. 0: it goes as soon as no finalizer holds it. */
  readonly gracePeriodSeconds: number;
  /** How typed Go clients send it. */
  readonly protobuf?: ProtobufMessage | undefined;
  /** What it is written by besides its schema. */
  readonly strategy?: Strategy | undefined;
  readonly hash: string;
}

/** Which of Kubernetes' own subresources a kind has. */
export interface Subresources {
  /** Whether `.status` is written through `/status` alone, and the rest never is. */
  readonly status: boolean;
  /** How the kind is scaled through `/scale`. */
  readonly scale?: ScalePaths;
}

/** Where a kind keeps what `/scale` shows (apiextensions' CustomResourceSubresourceScale): JSON paths of plain fields. */
export interface ScalePaths {
  /** Below `.spec`: how many replicas are wanted. */
  readonly specReplicasPath: string;
  /** Below `.status`: how many there are. */
  readonly statusReplicasPath: string;
  /** Below `.spec` or `.status`: which they are, as a label selector in text. */
  readonly labelSelectorPath?: string;
}

/** A kind that carries the type of its objects. */
export interface TypedDefinition<T> extends ResourceDefinition {
  /** Never set. */
  readonly type?: (object: T) => T;
}

/** `quotes.example.dev`, the name Kubernetes gives a kind in messages. */
export function groupResourceOf(definition: ResourceDefinition): GroupResource {
  return { group: definition.group, resource: definition.plural };
}

/**
 * What a kind's objects are written by besides its schema (the strategies, defaults and validations of Kubernetes' own
 * registry). Custom kinds do without: it is there so that Kubernetes' own kinds can be served as they are known. Its functions
 * are asked for every write, more than once where a write is tried again: they must be quick, and look at nothing else.
 * Those that set something replace members of the object, and change nothing within them.
 *
 * @typeParam T the kind's objects
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /**
   * What may be a name: a DNS subdomain, a DNS label, or any segment of a path (`system:admin`). @default "subdomain"
   */
  readonly names?: "subdomain" | "label" | "segment";
  /** Whether `metadata.generation` counts the changes of what is wished for. @default true */
  readonly generation?: boolean;
  /**
   * Whether an update without `metadata.resourceVersion` replaces whatever there is (AllowUnconditionalUpdate). Whoever leaves
   * it out overwrites what others have written meanwhile. @default false, such an update is 422
   */
  readonly unconditionalUpdate?: boolean;
  /** Whether an update creates what is not there (AllowCreateOnUpdate), for those who may create. @default false, it is 404 */
  readonly createOnUpdate?: boolean;
  /**
   * Fills in, in place, what a schema cannot say, of an object as it was sent, after the schema's own defaults and before
   * anybody is told who owns its fields. Throws an `ApiError` for what cannot be read at all.
   */
  readonly defaults?: (object: T) => void;
  /** Sets, in place, what nobody can write: before validation, after admission. `before` is `undefined` for a new object. */
  readonly prepare?: (object: T, before: T | undefined, subresource: string) => void;
  /** What is wrong with an object besides what its schema and the rules of metadata say; asked after admission. */
  readonly problems?: (object: T, before: T | undefined, subresource: string) => readonly StatusCause[];
  /** Whether something else than finalizers holds an object that is to be deleted. @default nothing does */
  readonly isHeld?: (object: T) => boolean;
  /** Whether a delete is answered with the object that went (ReturnDeletedObject). @default false, with a Status */
  readonly returnDeleted?: boolean;
  /** Sets, in place, what an object that is held shows from when it is to be deleted. */
  readonly marked?: (object: T) => void;
}

/** A version of a kind that is made of another. Both ways throw an `ApiError` when there is none. */
export interface KindVersion {
  readonly definition: ResourceDefinition;
  /** What it is made of: the version that is kept, or one that is made itself. */
  readonly of: ResourceDefinition;
  /** Makes it of that. */
  readonly read: (object: KubeObject) => KubeObject;
  /** The way back. */
  readonly write: (object: KubeObject) => KubeObject;
}

/** What is made of all versions of a kind, once for as long as there are no more: they may be added when it is served already. */
export function perVersions<R>(versions: KindVersions | undefined, make: () => R): () => R {
  let made: { readonly result: R; readonly size: number } | undefined;
  return () => {
    const size = versions?.size ?? 0;
    if (made?.size !== size) made = { result: make(), size };
    return made.result;
  };
}

/** The versions of a kind: the one that its objects are kept in, and those that are served besides. */
export class KindVersions {
  readonly #kept: ResourceDefinition;
  readonly #others = new Map<string, KindVersion>();

  constructor(kept: ResourceDefinition) {
    this.#kept = kept;
  }

  /** How many there are besides the one that is kept. */
  get size(): number {
    return this.#others.size;
  }

  /** @throws Error when there is one of that name */
  add(version: KindVersion): void {
    const apiVersion = apiVersionOf(version.definition);
    if (this.#others.has(apiVersion) || apiVersion === apiVersionOf(this.#kept))
      throw new Error(`${version.definition.plural}: there is a version ${apiVersion} already`);
    this.#others.set(apiVersion, version);
  }

  /** All of them. */
  get definitions(): readonly ResourceDefinition[] {
    return [this.#kept, ...Array.from(this.#others.values(), ({ definition }) => definition)];
  }

  /** The schemas of all versions but one. */
  schemasBeside(apiVersion: string): ReadonlyMap<string, JsonSchema> {
    const entries = this.definitions.map((definition) => [apiVersionOf(definition), definition.schema] as const);
    return new Map(entries.filter(([version]) => version !== apiVersion));
  }

  /** An object in another version. @throws ApiError what the conversion throws */
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
  /** As clients write it, without the leading dot: `spec.author`. */
  readonly name: string;
  /** The field's values in an object, the first of which counts. */
  readonly read: (object: unknown) => readonly unknown[];
}
