import type { ResourceId } from "../../api/base.ts";
import { workspacePath } from "../../api/base.ts";
import { isStatusError, request } from "../../api/client.ts";
import { memory } from "../memory.ts";
import type { Path } from "../yaml/parse.ts";

/** Schema of OpenAPI v3, as Kubernetes publishes it. */
interface RawSchema {
  readonly $ref?: string;
  readonly allOf?: readonly RawSchema[];
  readonly anyOf?: readonly RawSchema[];
  readonly oneOf?: readonly RawSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, RawSchema>>;
  readonly additionalProperties?: RawSchema | boolean;
  readonly items?: RawSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[] | GroupVersionKind;
}

/** Limits of a value. Undefined: none. */
export type Bounds = Pick<
  RawSchema,
  | "minimum"
  | "maximum"
  | "exclusiveMinimum"
  | "exclusiveMaximum"
  | "multipleOf"
  | "minLength"
  | "maxLength"
  | "pattern"
  | "minItems"
  | "maxItems"
>;

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, RawSchema>> };
}

/** The schema of one field, with its references followed. */
export class FieldSchema {
  readonly #raw: RawSchema;
  readonly #all: Readonly<Record<string, RawSchema>>;

  constructor(raw: RawSchema, all: Readonly<Record<string, RawSchema>>) {
    this.#all = all;
    this.#raw = flat(raw, all);
  }

  get description(): string {
    return this.#raw.description ?? "";
  }

  /** `int-or-string`, or a type of JSON Schema; "" if any is allowed. */
  get type(): string {
    if (this.#raw["x-kubernetes-int-or-string"] === true || this.#raw.format === "int-or-string")
      return "int-or-string";
    if (this.#raw.type !== undefined) return this.#raw.type;
    const types = [...(this.#raw.anyOf ?? []), ...(this.#raw.oneOf ?? [])].map(({ type }) => type);
    if (types.includes("integer") && types.includes("string")) return "int-or-string";
    return this.#raw.properties === undefined ? "" : "object";
  }

  /** The type for readers, such as `[]string` or `map[string]integer`. */
  get typeName(): string {
    const { type } = this;
    if (type === "array") return `[]${this.item?.typeName ?? "any"}`;
    const value = this.#raw.additionalProperties;
    if (type === "object" && typeof value === "object") return `map[string]${this.#of(value).typeName}`;
    return type || "any";
  }

  get format(): string {
    return this.#raw.format ?? "";
  }

  get values(): readonly unknown[] {
    return this.#raw.enum ?? [];
  }

  get default(): unknown {
    return this.#raw.default;
  }

  /** Limits of a value, and the pattern of a text. */
  get bounds(): Bounds {
    return this.#raw;
  }

  get isNullable(): boolean {
    return this.#raw.nullable === true;
  }

  get required(): readonly string[] {
    return this.#raw.required ?? [];
  }

  /** Names of the fields that the schema lists. */
  get names(): readonly string[] {
    return Object.keys(this.#raw.properties ?? {});
  }

  /** True if fields that the schema does not list are errors. */
  get isClosed(): boolean {
    const raw = this.#raw;
    if (raw.properties === undefined || raw["x-kubernetes-preserve-unknown-fields"] === true) return false;
    if (raw["x-kubernetes-embedded-resource"] === true) return false;
    return raw.additionalProperties === undefined || raw.additionalProperties === false;
  }

  get item(): FieldSchema | undefined {
    return this.#raw.items === undefined ? undefined : this.#of(this.#raw.items);
  }

  /** Schema of a field, also of a key of a map. */
  field(name: string): FieldSchema | undefined {
    const { properties = {}, additionalProperties } = this.#raw;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return this.#of(known);
    return typeof additionalProperties === "object" ? this.#of(additionalProperties) : undefined;
  }

  /** Schema of what is at a path. */
  at(path: Path): FieldSchema | undefined {
    let schema: FieldSchema | undefined = this;
    for (const step of path) schema = typeof step === "number" ? schema?.item : schema?.field(step);
    return schema;
  }

  #of(raw: RawSchema): FieldSchema {
    return new FieldSchema(raw, this.#all);
  }
}

/** Follows references, and merges the parts of `allOf`. */
function flat(raw: RawSchema, all: Readonly<Record<string, RawSchema>>, depth = 0): RawSchema {
  if (depth > 20) return raw;
  let result = raw;
  if (raw.$ref !== undefined) {
    const target = all[raw.$ref.replace("#/components/schemas/", "")];
    const { $ref: _, ...own } = raw;
    result = target === undefined ? own : { ...flat(target, all, depth + 1), ...own };
  }
  for (const part of result.allOf ?? []) {
    const { allOf: _, ...own } = result;
    result = { ...flat(part, all, depth + 1), ...own };
  }
  return result;
}

/** Time for which a schema is used again, in milliseconds: those of custom resources change. */
const FRESH = 30_000;

const documents = memory<string, { readonly since: number; readonly document: Promise<OpenApi | undefined> }>();

/** Schema of a kind in a workspace. Undefined if the server publishes none. Throws a StatusError for other failures. */
export async function readSchema(workspace: string, id: ResourceId, kind: string): Promise<FieldSchema | undefined> {
  const group = id.group === "" ? `api/${id.version}` : `apis/${id.group}/${id.version}`;
  const path = `${workspacePath(workspace)}/openapi/v3/${group}`;
  const known = documents.get(path);
  const isFresh = known !== undefined && performance.now() - known.since < FRESH;
  const { since, document } = isFresh ? known : { since: performance.now(), document: load(path) };
  documents.set(path, { since, document });
  try {
    return find(await document, { group: id.group, version: id.version, kind });
  } catch (error) {
    documents.delete(path);
    throw error;
  }
}

async function load(path: string): Promise<OpenApi | undefined> {
  try {
    return await request<OpenApi>(path);
  } catch (error) {
    if (isStatusError(error) && (error.code === 404 || error.code === 403)) return undefined;
    throw error;
  }
}

function find(document: OpenApi | undefined, wanted: GroupVersionKind): FieldSchema | undefined {
  const all = document?.components?.schemas ?? {};
  for (const raw of Object.values(all)) {
    const kinds = [raw["x-kubernetes-group-version-kind"] ?? []].flat();
    const is = ({ group, version, kind }: GroupVersionKind) =>
      (group ?? "") === wanted.group && version === wanted.version && kind === wanted.kind;
    if (kinds.some(is)) return new FieldSchema(raw, all);
  }
  return undefined;
}
