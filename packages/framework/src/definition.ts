import type { GroupResource, JsonSchema, TableColumn } from "@virtual-workspaces/apimachinery";
import type { ProtobufMessage } from "./body/protobuf/message.ts";
import type { SelectableField } from "./watch/cache/encoded.ts";
import type { Strategy } from "./strategy.ts";

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
