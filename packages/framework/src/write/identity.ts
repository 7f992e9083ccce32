import {
  ApiError,
  apiVersionOf,
  fieldInvalid,
  formatCause,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";

/** Place of an object in a request; the name is "" when the object itself provides it. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Checks that a body is an object of the served kind. As in Kubernetes, kinds that clients may send in protobuf, its own ones,
 * may leave out their type: many clients do in JSON.
 *
 * @throws ApiError 400 on another version; on another kind 422, for Kubernetes' own kinds 400
 */
export function checkType(object: JsonObject, definition: ResourceDefinition): void {
  const expected = apiVersionOf(definition);
  if (definition.protobuf !== undefined) {
    object["apiVersion"] ||= expected;
    object["kind"] ||= definition.kind;
  }
  const { apiVersion = "", kind = "" } = object;
  if (typeof kind !== "string" || typeof apiVersion !== "string")
    throw ApiError.badRequest("the object cannot be read: apiVersion and kind must be strings");
  if (kind === "") throw ApiError.badRequest(`Object 'Kind' is missing: it must be ${quote(definition.kind)}`);
  if (apiVersion !== expected) {
    throw ApiError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind === definition.kind) return;
  if (definition.protobuf !== undefined) throw unreadable(kind, definition, `kind must be ${quote(definition.kind)}`);
  throw otherKind(object, definition);
}

/** Checks the kind of a subresource's body; an empty type is accepted. @throws ApiError 400 */
export function checkKind(object: JsonObject, definition: ResourceDefinition): void {
  const expected = apiVersionOf(definition);
  const { apiVersion = expected, kind = definition.kind } = object;
  if (apiVersion === expected && kind === definition.kind) {
    Object.assign(object, { apiVersion, kind });
    return;
  }
  const [what, version] = [kind, apiVersion].map((text) => (typeof text === "string" ? quote(text) : "(not a string)"));
  throw ApiError.badRequest(
    `no kind ${what} is registered for version ${version} here: it must be ${definition.kind} of ${expected}`,
  );
}

/** Checks that a patch has kept the type of an object; another version is 422, as another kind is. */
export function checkTypeKept(object: JsonObject, definition: ResourceDefinition): void {
  const { apiVersion, kind } = object;
  const expected = apiVersionOf(definition);
  if (typeof apiVersion === "string" && apiVersion !== "" && apiVersion !== expected)
    throw otherType(object, fieldInvalid("apiVersion", apiVersion, `must be ${expected}`));
  if (typeof kind === "string" && kind !== "" && kind !== definition.kind) throw otherKind(object, definition);
  checkType(object, definition);
}

/**
 * Rejects values of other types in a sent object of Kubernetes' own kinds, whose servers cannot read it.
 *
 * @throws ApiError 400
 */
export function checkReadable(causes: readonly StatusCause[], definition: ResourceDefinition): void {
  if (definition.protobuf === undefined) return;
  const misfit = causes.find(({ reason }) => reason === "FieldValueTypeInvalid");
  if (misfit !== undefined) throw unreadable(definition.kind, definition, formatCause(misfit));
}

function unreadable(sent: string, { kind, version }: ResourceDefinition, why: string): ApiError {
  return ApiError.badRequest(`${sent} in version ${quote(version)} cannot be handled as a ${kind}: ${why}`);
}

function otherKind(object: JsonObject, { kind }: ResourceDefinition): ApiError {
  return otherType(object, fieldInvalid("kind", object["kind"], `must be ${kind}`));
}

function otherType(object: JsonObject, cause: StatusCause): ApiError {
  const kind = String(object["kind"]);
  const [group = "", version] = String(object["apiVersion"]).split("/");
  const { metadata } = object;
  const name = isJsonObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
  // Names the kind that the object claims, as in Kubernetes.
  return ApiError.invalid({ kind: { group: version === undefined ? "" : group, kind }, name, causes: [cause] });
}

/**
 * Checks that an object is at the place of the request (Kubernetes' EnsureObjectNamespaceMatchesRequestNamespace and
 * checkName), and sets its namespace.
 *
 * @throws ApiError 400 when its name or namespace is another
 */
export function checkPlace(object: KubeObject, { namespace, name }: Place): void {
  const { metadata } = object;
  if (namespace === "") delete metadata.namespace;
  else if (metadata.namespace === undefined) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw ApiError.badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (name === "") return;
  if (metadata.name === undefined) {
    throw ApiError.badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (metadata.name !== name) {
    throw ApiError.badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}
