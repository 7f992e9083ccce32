import {
  cloneJson,
  compileSchema,
  dnsLabelProblems,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  formatCauses,
  isJsonObject,
  type JsonObject,
  normalizeMetadata,
  pathSegmentProblems,
  quote,
  type StatusCause,
  type StructuralSchema,
} from "@virtual-workspaces/apimachinery";
import { bindingProblems, roleProblems } from "./meaning.ts";
import { RBAC_GROUP, type RbacObject } from "./objects.ts";
import { RBAC_SCHEMAS } from "./schemas.ts";

const KINDS: readonly string[] = Object.keys(RBAC_SCHEMAS);
const API_VERSION = `${RBAC_GROUP}/v1`;

/**
 * A copy that is nobody else's, and is what Kubernetes would take. Unknown fields are refused: `resourceName`, ignored,
 * would allow everything where one thing was meant.
 *
 * @throws Error that names the object and the fields
 */
export function checkedObject(value: unknown): RbacObject {
  if (!isJsonObject(value))
    throw new Error(`rbac: what is no object is neither a role nor a binding: ${String(value)}`);
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
  const strangers = unknown.map((field) => fieldForbidden(field, "there is no such field"));
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

/** Compiled when first asked for: most servers have no roles. */
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
