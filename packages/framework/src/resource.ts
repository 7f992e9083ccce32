import { createHash } from "node:crypto";
import {
  apiVersionOf,
  type CheckedSchema,
  type FromSchema,
  type JsonSchema,
  type KubeObject,
  type ObjectOf,
  pluralOf,
} from "@virtual-workspaces/apimachinery";
import {
  type ComputedColumn,
  compileJsonPath,
  isComputed,
  type PathColumn,
  type TableColumn,
} from "@virtual-workspaces/apimachinery/tables";
import { builtInMessage } from "./body/protobuf/built-in-messages.ts";
import type { ProtobufMessage } from "./body/protobuf/message.ts";
import type { ScalePaths, SelectableField, Strategy, Subresources, TypedDefinition } from "./definition.ts";
import { Collection, type CollectionOptions } from "./resource/collection/collection.ts";
import { checkDefinition, malformedPath } from "./resource/definition-checks.ts";
import { checkScaled, scaleFields } from "./resource/scale/scale-fields.ts";
import {
  type ForwardingHandlers,
  type ForwardingOptions,
  forwardedResource,
  type ServedResource,
  type ServeOptions,
  serveStorage,
} from "./resource/served.ts";
import type { Storage } from "./storage.ts";

/**
 * A printer column: a JSON path, or one with its own type, description and priority (1 shows with `-o wide` only), or a
 * function of the object: `{ type: "integer", value: ({ data = {} }) => Object.keys(data).length }`. The function runs for
 * every row, so it must be fast and depend on the object only: equal source text counts as an equal column. When it throws,
 * the cell is empty.
 */
export type ColumnSpec<T extends object = object> =
  | FieldPath<T>
  | (Partial<Omit<PathColumn, "name" | "jsonPath">> & { readonly jsonPath: FieldPath<T> })
  | (Omit<ComputedColumn, "name" | "value"> & {
      /** Returns the value of the cell. */
      value(object: ObjectOf<T>): unknown;
    });

/**
 * JSON path of a field of objects with the content `T`: `.spec.text`, `.metadata.labels.app`. The compiler checks paths of plain
 * names; {@link defineResource} also checks the others: `.spec.items[0].name`.
 */
export type FieldPath<T extends object = object> = object extends T
  ? string
  : string extends keyof T
    ? string
    : ".apiVersion" | ".kind" | `.metadata.${string}` | `${string}${"[" | "*" | "\\"}${string}` | PathsOf<T>;

/** Paths to all fields of a type. Deeper fields than ten, and those of open objects, are any path. */
type PathsOf<T, Depth extends readonly 0[] = []> = Depth["length"] extends 10
  ? `.${string}`
  : unknown extends T
    ? `.${string}`
    : T extends readonly unknown[]
      ? never
      : T extends object
        ? { [K in keyof T & string]: PathsBelow<K, T[K], Depth> }[keyof T & string]
        : never;

type PathsBelow<Name extends string, Value, Depth extends readonly 0[]> = string extends Name
  ? `.${string}`
  : `.${Name}` | `.${Name}${PathsOf<NonNullable<Value>, [...Depth, 0]>}`;

/** A field that selectors may name: a JSON path, which is also its name, or a name with a function that returns its value. */
export type FieldSpec<T extends object = object> = FieldPath<T> | NamedField;

/** A field with a name of its own. */
export interface NamedField {
  /** Name in selectors. */
  readonly name: string;
  /** Returns the value that selectors compare: a string, number or boolean. */
  readonly value: (object: KubeObject) => unknown;
}

/** Options of {@link defineResource}. Give `spec` (and `status`), or `schema` for a kind of another form. */
export interface ResourceOptions<Spec extends JsonSchema, Status extends JsonSchema, Whole extends JsonSchema> {
  /** API group, "" for the core group. */
  readonly group: string;
  /** API version of the kind, `v1` or `v1alpha1`. */
  readonly version: string;
  readonly kind: string;
  readonly scope: "Cluster" | "Namespaced";
  /** Plural name. @default the kind, lower-cased, in the plural as Kubernetes guesses it */
  readonly plural?: string;
  /** Singular name. @default the kind, lower-cased */
  readonly singular?: string;
  /** Kind of lists. @default the kind and `List` */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Description that `kubectl explain` shows. */
  readonly description?: string;
  /** Schema, and with it the type, of `.spec`. */
  readonly spec?: Spec & CheckedSchema<Spec>;
  /** Schema, and with it the type, of `.status`. */
  readonly status?: Status & CheckedSchema<Status>;
  /** Schema of the whole object except `apiVersion`, `kind` and `metadata`, instead of `spec` and `status`. */
  readonly schema?: Whole & CheckedSchema<Whole>;
  /**
   * Whether the first write compiles the schema, instead of the definition of the storage: a server with many kinds starts
   * faster. A schema that Kubernetes would reject then fails each write with 500, so test it.
   * @default false, an invalid schema is rejected when the kind is put on a storage
   */
  readonly lazySchema?: boolean | undefined;
  /**
   * Columns of `kubectl get` between Name and Age; the schema gives their types. A list replaces all columns after Name, as
   * in a CustomResourceDefinition.
   */
  readonly columns?: Readonly<Record<string, ColumnSpec<ContentOf<Spec, Status, Whole>>>> | readonly TableColumn[];
  /** JSON paths that field selectors may name besides name and namespace: `[".spec.author"]`. */
  readonly selectableFields?: readonly FieldSpec<ContentOf<Spec, Status, Whole>>[];
  /**
   * Whether the kind has `/status` and `/scale`. With `/status`, other writes leave `.status` unchanged.
   * @default `/status` when there is a schema for it
   */
  readonly subresources?: Partial<Subresources>;
  /**
   * Time a deleted object gets for its termination, s, as pods do. It stays, marked as deleted, until a controller deletes it
   * with a period of 0.
   * @default 0, it is removed as soon as no finalizer holds it
   */
  readonly gracePeriodSeconds?: number;
  /**
   * Protobuf encoding of new objects, by field number. Only for Kubernetes' own kinds, which typed Go clients (and `kubectl
   * create configmap`) send as protobuf without negotiation; responses are JSON, which they accept. As in Kubernetes, such a
   * kind also accepts strategic merge patches and objects without `apiVersion` and `kind`, items of its lists have neither, and
   * field validation does not apply to protobuf: the schema drops unknown fields.
   * @default Kubernetes' encoding of ConfigMap, Event, Lease, Namespace, ResourceQuota, Secret, ServiceAccount and the RBAC kinds
   * in version `v1`; JSON and YAML only for others
   */
  readonly protobuf?: ProtobufMessage | undefined;
  /** Write rules besides the schema. Only for Kubernetes' own kinds. @default the rules of custom kinds */
  readonly strategy?: Strategy | undefined;
}

type AnyOptions = ResourceOptions<JsonSchema, JsonSchema, JsonSchema>;

/**
 * A kind with its TypeScript type. Made by {@link defineResource}.
 *
 * @typeParam T fields of an object besides `apiVersion`, `kind` and `metadata`
 */
export class Resource<T extends object = object> implements TypedDefinition<T> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly schema: JsonSchema;
  readonly lazySchema: boolean;
  readonly columns: readonly TableColumn[];
  readonly selectableFields: readonly SelectableField[];
  readonly subresources: Subresources;
  readonly gracePeriodSeconds: number;
  readonly protobuf: ProtobufMessage | undefined;
  readonly strategy: Strategy | undefined;
  readonly hash: string;
  /** Carries the type; never set. */
  declare readonly type?: (object: T) => T;

  constructor(options: ResourceOptions<JsonSchema, JsonSchema, JsonSchema>) {
    this.group = options.group;
    this.version = options.version;
    this.kind = options.kind;
    this.listKind = options.listKind ?? `${options.kind}List`;
    this.plural = options.plural ?? pluralOf(options.kind);
    this.singular = options.singular ?? options.kind.toLowerCase();
    this.scope = options.scope;
    this.shortNames = Object.freeze([...(options.shortNames ?? [])]);
    this.categories = Object.freeze([...(options.categories ?? [])]);
    this.schema = objectSchema(options);
    this.lazySchema = options.lazySchema ?? false;
    const { columns = {} } = options;
    this.columns = isList(columns) ? columns : tableColumns(columns, this.schema);
    this.selectableFields = (options.selectableFields ?? []).map((field) => selectableField(options.kind, field));
    this.subresources = Object.freeze({ status: hasStatus(this.schema), ...options.subresources });
    if (this.subresources.scale !== undefined) checkScale(this, this.subresources.scale);
    this.gracePeriodSeconds = options.gracePeriodSeconds ?? 0;
    this.protobuf = options.protobuf ?? builtInMessage(options);
    this.strategy = options.strategy;
    const { selectableFields, strategy, lazySchema: _, ...names } = this;
    const content = {
      ...names,
      columns: this.columns.map((column) => (isComputed(column) ? { ...column, value: String(column.value) } : column)),
      selectableFields: selectableFields.map((field) => field.name),
      strategy: textOf(strategy),
    };
    this.hash = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32);
    Object.freeze(this);
  }

  /** Returns a collection in another backend: `collection(persistent(store))`, from `@virtual-workspaces/store`. */
  collection<Kept>(keep: (definition: TypedDefinition<T>) => Kept): Kept;
  /**
   * Returns a collection in memory: set or delete an object and every open watch sees it. Versions grow across restarts, the
   * objects do not survive one.
   */
  collection(options?: CollectionOptions): Collection<T>;
  collection<Kept>(how: CollectionOptions | ((definition: TypedDefinition<T>) => Kept) = {}): Collection<T> | Kept {
    return typeof how === "function" ? how(this) : new Collection<T>(this, how);
  }

  /**
   * Puts the kind on a storage. Advertised verbs are the methods the storage has, narrowed by `verbs`.
   *
   * @throws Error when `verbs` names one that the storage does not support, when it holds another kind, or on a subresource
   * that could not be served
   */
  serve<Kinds extends Readonly<Record<string, unknown>> = Readonly<Record<never, unknown>>>(
    storage: Storage<ObjectOf<T>> & { readonly resource?: TypedDefinition<T> },
    options: ServeOptions<ObjectOf<T>, Kinds> = {},
  ): ServedResource {
    const held = storage.resource;
    if (held !== undefined && (held.kind !== this.kind || apiVersionOf(held) !== apiVersionOf(this))) {
      throw new Error(`cannot serve ${this.kind} from objects of kind ${apiVersionOf(held)} ${held.kind}: use view()`);
    }
    return serveStorage(this, storage as Storage, options as unknown as ServeOptions);
  }

  /**
   * Forwards all requests about the kind, unread, to handlers such as a proxy to another server. Discovery and OpenAPI list
   * it like any other kind; {@link ForwardingHandlers.discover} gives its verbs. The framework checks neither requests nor
   * responses.
   *
   * @throws Error on an invalid identity
   */
  forwardTo(handlers: ForwardingHandlers, options: ForwardingOptions = {}): ServedResource {
    return forwardedResource(this, handlers, options);
  }
}

/**
 * Defines a kind; its schema is its type.
 *
 * @throws Error that names the kind and the option: on a name that Kubernetes would reject, on a JSON path of a column or a
 * selectable field that does not parse or that the schema does not have, or when `schema` is given beside `spec` or `status`.
 *
 * @example
 * ```ts
 * import { defineResource } from "@virtual-workspaces/framework";
 *
 * const Book = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Book",
 *   scope: "Namespaced",
 *   spec: { type: "object", required: ["title"], properties: { title: { type: "string" }, pages: { type: "integer" } } },
 *   columns: { Title: ".spec.title", Pages: ".spec.pages" },
 * });
 * const books = Book.collection();
 * books.in("root", "default").set("dune", { title: "Dune", pages: 412 });
 * ```
 * @see docs/how-to/writing-a-view.md
 */
export function defineResource<
  const Spec extends JsonSchema = never,
  const Status extends JsonSchema = never,
  const Whole extends JsonSchema = never,
>(options: ResourceOptions<Spec, Status, Whole>): Resource<ContentOf<Spec, Status, Whole>> {
  const resource = new Resource<ContentOf<Spec, Status, Whole>>(options as AnyOptions);
  checkDefinition(
    resource,
    ((options as AnyOptions).selectableFields ?? []).filter((field) => typeof field === "string"),
  );
  return resource;
}

/** Content type of an object, from its schemas. */
export type ContentOf<Spec, Status, Whole> = [Whole] extends [never]
  ? ([Spec] extends [never] ? object : { spec: FromSchema<Spec> }) &
      ([Status] extends [never] ? object : { status?: FromSchema<Status> })
  : FromSchema<Whole> & object;

/** @throws Error that names the kind and the path */
function checkScale({ kind, schema }: Pick<Resource, "kind" | "schema">, scale: ScalePaths): void {
  try {
    checkScaled(schema, scaleFields(scale).wanted);
  } catch (error) {
    throw new Error(`${kind}: ${(error as Error).message}`, { cause: error });
  }
}

function hasStatus({ properties }: JsonSchema): boolean {
  return properties?.["status"] !== undefined;
}

/** Serializes functions by their source text. */
function textOf(strategy: Strategy | undefined): string {
  return JSON.stringify(strategy, (_name, value) => (typeof value === "function" ? String(value) : value)) ?? "";
}

/** @throws Error that names the kind, on a path that does not parse */
function selectableField(kind: string, path: FieldSpec): SelectableField {
  if (typeof path !== "string") return { name: path.name, read: (object) => [path.value(object as KubeObject)] };
  try {
    return { name: path.replace(/^\./, ""), read: compileJsonPath(path) };
  } catch (error) {
    throw new Error(`${kind}: selectableFields: ${malformedPath(path, error as Error)}`, { cause: error });
  }
}

function isList(columns: NonNullable<AnyOptions["columns"]>): columns is readonly TableColumn[] {
  return Array.isArray(columns);
}

function tableColumns(columns: Readonly<Record<string, ColumnSpec>>, schema: JsonSchema): readonly TableColumn[] {
  const given = Object.entries(columns).map(([name, column]): TableColumn => {
    if (typeof column === "object" && "value" in column) return { ...column, name } as ComputedColumn;
    const spec = typeof column === "string" ? { jsonPath: column } : column;
    return { type: columnType(schema, spec.jsonPath), ...spec, name };
  });
  if (given.some((column) => column.name === "Age")) return given;
  return [...given, { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: AGE }];
}

const AGE = "How long ago the object was created, by its metadata.creationTimestamp.";

function columnType(schema: JsonSchema, path: string): TableColumn["type"] {
  let at: JsonSchema | undefined = schema;
  for (const step of path.split(".").slice(1)) at = at?.properties?.[step];
  const type = at?.type;
  if (type === "integer" || type === "number" || type === "boolean") return type;
  return type === "string" && at?.format === "date-time" ? "date" : "string";
}

/** Builds the schema of the whole object (without type and metadata) from the author's schemas. */
function objectSchema(options: ResourceOptions<JsonSchema, JsonSchema, JsonSchema>): JsonSchema {
  const { kind, spec, status, schema, description } = options;
  if (schema !== undefined && (spec !== undefined || status !== undefined)) {
    throw new Error(`conflicting schemas of ${kind}: give either schema, or spec and status`);
  }
  const described = description === undefined ? {} : { description };
  if (schema !== undefined) return { ...schema, ...described };
  return {
    type: "object",
    ...described,
    ...(spec === undefined ? {} : { required: ["spec"] }),
    properties: { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) },
  };
}
