import {
  ApiError,
  apiVersionOf,
  fieldInvalid,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";

/** Where a request says its object is; the name is "" when the object is to say it. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Makes sure that a body is an object of the kind that is served.
 *
 * @throws ApiError 400 on one of another version, 422 on one of another kind
 */
export function checkType(object: JsonObject, definition: ResourceDefinition): void {
  const { apiVersion = "", kind = "" } = object;
  const expected = apiVersionOf(definition);
  if (typeof kind !== "string" || typeof apiVersion !== "string")
    throw ApiError.badRequest("the object cannot be read: apiVersion and kind must be strings");
  if (kind === "") throw ApiError.badRequest(`Object 'Kind' is missing: it must be ${quote(definition.kind)}`);
  if (apiVersion !== expected) {
    throw ApiError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== definition.kind) throw otherType(object, fieldInvalid("kind", kind, `must be ${definition.kind}`));
}

/** The same of a subresource's own kind: one that does not say what it is is taken for one. @throws ApiError 400 */
export function checkKind(object: JsonObject, definition: ResourceDefinition): void {
  const expected = apiVersionOf(definition);
  const { apiVersion = expected, kind = definition.kind } = object;
  if (apiVersion === expected && kind === definition.kind) {
    Object.assign(object, { apiVersion, kind });
    return;
  }
  const [what, version] = [kind, apiVersion].map((text) =>
    typeof text === "string" ? quote(text) : "what is no text",
  );
  throw ApiError.badRequest(
    `no kind ${what} is registered for version ${version} here: it must be ${definition.kind} of ${expected}`,
  );
}

/** The same of what a patch has made of an object of the kind: then both are values like others. */
export function checkTypeKept(object: JsonObject, definition: ResourceDefinition): void {
  const { apiVersion } = object;
  const expected = apiVersionOf(definition);
  if (typeof apiVersion === "string" && apiVersion !== "" && apiVersion !== expected)
    throw otherType(object, fieldInvalid("apiVersion", apiVersion, `must be ${expected}`));
  checkType(object, definition);
}

function otherType(object: JsonObject, cause: StatusCause): ApiError {
  const kind = String(object["kind"]);
  const [group = "", version] = String(object["apiVersion"]).split("/");
  const { metadata } = object;
  const name = isJsonObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
  // Under the names it gives itself, as in Kubernetes.
  return ApiError.invalid({ kind: { group: version === undefined ? "" : group, kind }, name, causes: [cause] });
}

/**
 * Makes sure that an object is where the request says, and says so itself (EnsureObjectNamespaceMatchesRequestNamespace
 * and checkName of Kubernetes).
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
