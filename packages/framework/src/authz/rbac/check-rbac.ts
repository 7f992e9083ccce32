import {
  dnsLabelProblems,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  formatCauses,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  normalizeMetadata,
  pathSegmentProblems,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { compileSchema, type StructuralSchema } from "@virtual-workspaces/apimachinery/schema";
import { bindingProblems, roleProblems } from "./meaning.ts";
import { RBAC_GROUP, type RbacObject } from "./objects.ts";

const texts: JsonSchema = { type: "array", items: { type: "string" } };

const rules: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["verbs"],
    properties: { verbs: texts, apiGroups: texts, resources: texts, resourceNames: texts, nonResourceURLs: texts },
  },
};

const text: JsonSchema = { type: "string" };

const roleRef: JsonSchema = {
  type: "object",
  required: ["kind", "name"],
  properties: { apiGroup: text, kind: text, name: text },
};

const subjects: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["kind", "name"],
    properties: { kind: text, apiGroup: text, name: text, namespace: text },
  },
};

const selector: JsonSchema = {
  type: "object",
  properties: {
    matchLabels: { type: "object", additionalProperties: { type: "string" } },
    matchExpressions: {
      type: "array",
      items: {
        type: "object",
        required: ["key", "operator"],
        properties: { key: text, operator: text, values: texts },
      },
    },
  },
};

const aggregationRule: JsonSchema = {
  type: "object",
  properties: { clusterRoleSelectors: { type: "array", items: selector } },
};

const binding: JsonSchema = { type: "object", required: ["roleRef"], properties: { roleRef, subjects } };

/** Schemas of the objects. */
const RBAC_SCHEMAS: Readonly<Record<RbacObject["kind"], JsonSchema>> = {
  Role: { type: "object", properties: { rules } },
  ClusterRole: { type: "object", properties: { rules, aggregationRule } },
  RoleBinding: binding,
  ClusterRoleBinding: binding,
};

const KINDS: readonly string[] = Object.keys(RBAC_SCHEMAS);
const API_VERSION = `${RBAC_GROUP}/v1`;

/**
 * Returns a private copy of an object that Kubernetes would accept. Security: unknown fields are errors, because an ignored
 * typo, such as `resourceName`, would allow access to all objects.
 *
 * @throws Error that names the object and the fields
 */
export function checkedObject(value: unknown): RbacObject {
  if (!isJsonObject(value))
    throw new Error(`rbac: not a role or binding: ${String(value)}: give an object with a kind`);
  const object = cloneJson(value);
  const causes = problemsOf(object);
  if (causes.length > 0) throw new Error(`rbac: ${nameOf(object)} is invalid: ${formatCauses(causes)}`);
  return object as unknown as RbacObject;
}

function problemsOf(object: JsonObject): readonly StatusCause[] {
  const { apiVersion, kind, metadata } = object;
  if (apiVersion !== undefined && apiVersion !== API_VERSION)
    return [fieldNotSupported("apiVersion", apiVersion, [API_VERSION])];
  if (typeof kind !== "string" || !KINDS.includes(kind)) return [fieldNotSupported("kind", kind ?? "", KINDS)];
  if (!isJsonObject(metadata)) return [fieldRequired("metadata")];
  const unknown = [...normalizeMetadata(object), ...schemaOf(kind as RbacObject["kind"]).prune(object)];
  const strangers = unknown.map((field) => fieldForbidden(field, "unknown field: remove it or correct its name"));
  const formed = [
    ...strangers,
    ...metadataProblems(kind, metadata),
    ...schemaOf(kind as RbacObject["kind"]).validate(object),
  ];
  if (formed.length > 0) return formed;
  const checked = object as unknown as RbacObject;
  return "roleRef" in checked ? bindingProblems(checked) : roleProblems(checked);
}

function metadataProblems(kind: string, { name, namespace = "" }: JsonObject): readonly StatusCause[] {
  const found: StatusCause[] = [];
  if (typeof name !== "string" || name === "") found.push(fieldRequired("metadata.name"));
  else found.push(...pathSegmentProblems(name).map((problem) => fieldInvalid("metadata.name", name, problem)));
  const isNamespaced = !kind.startsWith("Cluster");
  if (isNamespaced && namespace === "") found.push(fieldRequired("metadata.namespace"));
  if (!isNamespaced && namespace !== "") found.push(fieldForbidden("metadata.namespace", "not allowed on this type"));
  if (isNamespaced && namespace !== "")
    found.push(
      ...dnsLabelProblems(String(namespace)).map((problem) => fieldInvalid("metadata.namespace", namespace, problem)),
    );
  return found;
}

const compiled = new Map<string, StructuralSchema>();

/** Compiled on first use: most servers have no roles. */
function schemaOf(kind: RbacObject["kind"]): StructuralSchema {
  let schema = compiled.get(kind);
  if (schema === undefined) {
    schema = compileSchema(RBAC_SCHEMAS[kind]);
    compiled.set(kind, schema);
  }
  return schema;
}

function nameOf({ kind, metadata }: JsonObject): string {
  const name = isJsonObject(metadata) ? metadata["name"] : undefined;
  return `${typeof kind === "string" && kind !== "" ? kind : "an object"} ${quote(typeof name === "string" ? name : "")}`;
}
