import { UnknownFields } from "../json/bounded.ts";
import { cloneJson, isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { ApiError, isApiError } from "../meta/api-error.ts";
import { BoundedCauses, type Causes, fieldInvalid, fieldRequired, formatCause } from "../meta/field-cause.ts";
import { pathSegmentProblems } from "../meta/names.ts";
import { normalizeMetadata } from "../meta/normalize.ts";
import { objectMetaProblems, parseApiVersion } from "../meta/object-meta.ts";
import type { StatusCause } from "../meta/status.ts";
import type { ObjectMeta } from "../meta/types.ts";
import type { SchemaNode } from "./node.ts";
import { FieldPath, visitChildren } from "./walk.ts";

/**
 * Converts the metadata of embedded resources to an ObjectMeta, in place, like an object's own (apiextensions'
 * objectmeta.Coerce).
 *
 * @returns the paths of members that ObjectMeta does not have, sorted and bounded in number
 * @throws ApiError 400 for an apiVersion, kind or metadata of a wrong type
 */
export function coerceEmbedded(root: SchemaNode, object: unknown): string[] {
  const { unknown, malformed } = coerce(root, object);
  if (malformed !== undefined) throw ApiError.badRequest(formatCause(malformed));
  return unknown.sorted();
}

/** Like {@link coerceEmbedded}, but returns the fault as a cause. */
export function tryCoerceEmbedded(root: SchemaNode, object: unknown): StatusCause | undefined {
  return coerce(root, object).malformed;
}

interface Coerced {
  readonly unknown: UnknownFields;
  malformed: StatusCause | undefined;
}

function coerce(root: SchemaNode, object: unknown): Coerced {
  const coerced: Coerced = { unknown: new UnknownFields(), malformed: undefined };
  const visit = (value: unknown, node: SchemaNode, place: FieldPath): void => {
    if (coerced.malformed !== undefined) return;
    if (node.embedded && isJsonObject(value)) {
      coerced.malformed = unreadableType(value, place) ?? unreadableMetadata(value, place, coerced.unknown);
    }
    visitChildren(value, node, { place, task: "embedded", visit });
  };
  if (root.tasks.embedded) visit(object, root, FieldPath.root);
  return coerced;
}

function unreadableType(resource: JsonObject, place: FieldPath): StatusCause | undefined {
  const name = ["apiVersion", "kind"].find((field) => {
    const value = memberOf(resource, field);
    return value !== undefined && typeof value !== "string";
  });
  return name === undefined
    ? undefined
    : fieldInvalid(place.child(name).toString(), resource[name], "must be a string");
}

function unreadableMetadata(resource: JsonObject, place: FieldPath, unknown: UnknownFields): StatusCause | undefined {
  if (!Object.hasOwn(resource, "metadata")) return undefined;
  try {
    unknown.add(pathsBelow(place, normalizeMetadata(resource)));
    return undefined;
  } catch (error) {
    return malformed(resource, place, error);
  }
}

function* pathsBelow(place: FieldPath, paths: readonly string[]): Generator<string, void> {
  for (const path of paths) yield place.child(path).toString();
}

function malformed(resource: JsonObject, place: FieldPath, error: unknown): StatusCause {
  if (!isApiError(error)) throw error;
  return fieldInvalid(place.child("metadata").toString(), resource["metadata"], error.message);
}

/** Returns the faults in the type and metadata of embedded resources (apiextensions' objectmeta.Validate). */
export function checkEmbedded(root: SchemaNode, object: unknown): StatusCause[] {
  const causes = new BoundedCauses();
  if (!root.tasks.embedded) return causes.items;
  const visit = (value: unknown, node: SchemaNode, place: FieldPath): void => {
    if (causes.full) return;
    if (node.embedded && isJsonObject(value)) causes.add(resourceProblems(value, place));
    visitChildren(value, node, { place, task: "embedded", visit });
  };
  visit(object, root, FieldPath.root);
  return causes.items;
}

function* resourceProblems(resource: JsonObject, place: FieldPath): Causes {
  yield* typeProblems(resource, { field: place.child("apiVersion").toString(), name: "apiVersion" }, apiVersionProblem);
  yield* typeProblems(resource, { field: place.child("kind").toString(), name: "kind" }, kindProblem);
  if (Object.hasOwn(resource, "metadata")) yield* metadataProblems(resource, place);
}

interface Field {
  readonly field: string;
  readonly name: string;
}

type TextProblem = (text: string) => string | undefined;

function* typeProblems(resource: JsonObject, { field, name }: Field, problemOf: TextProblem): Causes {
  const value = memberOf(resource, name);
  if (value === undefined) yield fieldRequired(field);
  else if (typeof value !== "string") yield fieldInvalid(field, value, "must be a string");
  else {
    const problem = value === "" ? "must not be empty" : problemOf(value);
    if (problem !== undefined) yield fieldInvalid(field, value, problem);
  }
}

function apiVersionProblem(text: string): string | undefined {
  try {
    parseApiVersion(text);
    return undefined;
  } catch (error) {
    return isApiError(error) ? error.message : String(error);
  }
}

const KIND =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

function kindProblem(kind: string): string | undefined {
  const problems = kind.length > 63 ? ["must be no more than 63 characters"] : [];
  if (!/^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(kind.toLowerCase())) problems.push(KIND);
  return problems.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${problems.join(",")}`;
}

/** Names need only be valid path segments, because the kind of the resource is unknown. */
function* metadataProblems(resource: JsonObject, place: FieldPath): Causes {
  const copy: JsonObject = { metadata: cloneJson(resource["metadata"]) };
  try {
    normalizeMetadata(copy);
  } catch (error) {
    yield malformed(resource, place, error);
    return;
  }
  const meta = copy["metadata"] as ObjectMeta;
  const rules = { namespaced: meta.namespace !== undefined, name: nameProblems };
  for (const cause of objectMetaProblems({ ...meta, name: meta.name ?? "fakename" }, rules))
    yield { ...cause, field: place.child(cause.field ?? "").toString() };
}

function nameProblems(name: string, prefix: boolean): string[] {
  return prefix
    ? ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`)
    : pathSegmentProblems(name);
}
