import type { JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";

const text: JsonSchema = { type: "string" };
const number: JsonSchema = { type: "integer" };

function listMap(items: JsonSchema, ...keys: string[]): JsonSchema {
  return { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys };
}

function setOf(items: JsonSchema): JsonSchema {
  return { type: "array", items, "x-kubernetes-list-type": "set" };
}

function struct(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties };
}

const port = struct({
  name: text,
  port: number,
  protocol: { type: "string", default: "TCP" },
  opts: { type: "object", additionalProperties: text },
  tags: setOf(text),
  sub: listMap(struct({ id: number, v: text, w: struct({ a: text, b: text }) }), "id"),
});

const spec: Record<string, JsonSchema> = {
  text,
  count: number,
  ratio: { type: "number" },
  size: { "x-kubernetes-int-or-string": true },
  flag: { type: "boolean" },
  when: { type: "string", format: "date-time" },
  nul: { ...struct({ a: text, b: { type: "string", nullable: true } }), nullable: true },
  labels: { type: "object", additionalProperties: text },
  deep: { type: "object", additionalProperties: struct({ a: text, b: number }) },
  mixed: { type: "object", additionalProperties: { "x-kubernetes-int-or-string": true } },
  atomicMap: { ...struct({ a: text, b: struct({ c: text }) }), "x-kubernetes-map-type": "atomic" },
  atomicList: { type: "array", items: struct({ a: text }) },
  strings: setOf(text),
  nums: setOf({ type: "number" }),
  ports: listMap(port, "port", "protocol"),
  named: listMap(port, "name"),
  atomicItems: listMap({ ...struct({ name: text, a: text, b: text }), "x-kubernetes-map-type": "atomic" }, "name"),
  free: {
    ...struct({ known: text, inner: struct({ x: text }), list: listMap(struct({ k: text }), "k") }),
    "x-kubernetes-preserve-unknown-fields": true,
  },
  any: { "x-kubernetes-preserve-unknown-fields": true },
  open: { type: "object" },
  embedded: {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  },
  embedded2: { ...struct({ spec: struct({ a: text }) }), "x-kubernetes-embedded-resource": true },
};

const status = struct({ phase: text, conditions: listMap(struct({ type: text, status: text }), "type") });

function schemaOf(properties: Record<string, JsonSchema>): JsonSchema {
  return struct({ spec: struct(properties), status });
}

/** The same fields, some of which have become atomic, and one granular. */
const altered: Record<string, JsonSchema> = {
  ...spec,
  labels: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
  named: { type: "array", items: port },
  strings: { type: "array", items: text },
  deep: {
    type: "object",
    additionalProperties: { ...struct({ a: text, b: number }), "x-kubernetes-map-type": "atomic" },
  },
  nul: {
    ...struct({ a: text, b: { type: "string", nullable: true } }),
    nullable: true,
    "x-kubernetes-map-type": "atomic",
  },
  atomicMap: { ...struct({ a: text, b: struct({ c: text }) }), "x-kubernetes-map-type": "granular" },
};

const { text: _, ...others } = spec;

/** Kind of the recorded histories. */
interface Kind {
  /** Schemas by version name. */
  readonly versions: Readonly<Record<string, JsonSchema | undefined>>;
  readonly ignored?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Whether `spec.text` of v1 is `spec.message` in v2. */
  readonly renames?: boolean;
}

const ignored = { "": [["status"]], status: [["metadata"], ["spec"]] };

/** Kinds of the recorded histories: every way in which a schema affects ownership. */
const kinds: Readonly<Record<string, Kind>> = {
  rich: { versions: { v1: schemaOf(spec) }, ignored },
  "rich-noignore": { versions: { v1: schemaOf(spec) } },
  none: { versions: { v1: undefined }, ignored },
  root: {
    versions: {
      v1: {
        ...struct({ spec: struct({ text, ports: listMap(port, "port", "protocol") }) }),
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  },
  multi: { versions: { v1: schemaOf(spec), v2: schemaOf(spec) }, ignored },
  "multi-altered": { versions: { v1: schemaOf(spec), v2: schemaOf(altered) } },
  rename: { versions: { v1: schemaOf(spec), v2: schemaOf({ message: text, ...others }) }, renames: true },
  altered: { versions: { v1: schemaOf(altered) }, ignored },
};

/** Returns a field manager of a kind in one of its versions. */
export function fieldManagerOf(kindName: string, version = "v1"): FieldManager {
  const kind = kinds[kindName];
  if (kind === undefined) throw new Error(`no kind ${kindName}`);
  return new FieldManager({
    apiVersion: `example.dev/${version}`,
    kind: "Thing",
    schema: kind.versions[version],
    versions: new Map(Object.entries(kind.versions).map(([name, schema]) => [`example.dev/${name}`, schema])),
    ignored: kind.ignored ?? {},
    ...(kind.renames === true ? { convert: rename } : {}),
  });
}

function rename(object: KubeObject, apiVersion: string): KubeObject {
  const converted = { ...cloneJson(object), apiVersion };
  const { spec: inner } = converted as { spec?: unknown };
  if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return converted;
  const fields = inner as Record<string, unknown>;
  const [from, to] = apiVersion.endsWith("v1") ? ["message", "text"] : ["text", "message"];
  if (!(from in fields)) return converted;
  fields[to] = fields[from];
  delete fields[from];
  return converted;
}
