import { cloneJson, equalJson, isJsonObject, type JsonObject, setMember } from "../../json/value.ts";
import type { Causes } from "../../meta/field-cause.ts";
import { fieldInvalid, formatCauses } from "../../meta/field-cause.ts";
import type { StatusCause } from "../../meta/status.ts";
import { checkValues } from "../check.ts";
import { checkEmbedded, tryCoerceEmbedded } from "../embedded.ts";
import type { SchemaNode } from "../node.ts";
import { RESOURCE_FIELDS } from "../node.ts";
import { pruneValue } from "../prune-fields.ts";

/** Schema during the walk, with its enclosing resource. */
interface VisitedSchema {
  readonly node: SchemaNode;
  readonly path: string;
  readonly resource: SchemaNode;
  /** Steps from the resource to this schema; an item of a list has index 0. */
  readonly steps: readonly (string | 0)[];
  readonly insideMeta: boolean;
}

/** Returns defaults that their own schema would reject or prune (apiextensions' defaulting.ValidateDefaults). */
export function defaultProblems(root: SchemaNode, path: string): Causes {
  const resource = asResource(root);
  return problems({ node: resource, path, resource, steps: [], insideMeta: false });
}

/** The root of an object is a resource, like embedded ones. */
function asResource(node: SchemaNode): SchemaNode {
  return { ...node, embedded: true, tasks: { ...node.tasks, embedded: true } };
}

function* problems(at: VisitedSchema): Causes {
  const { node, path } = at;
  if (node.embedded && at.steps.length > 0) {
    yield* problems({ ...at, resource: node, steps: [], insideMeta: false });
    return;
  }
  if (node.default !== undefined) yield* at.insideMeta ? metaProblems(at) : valueProblems(node, `${path}.default`);
  if (node.items !== undefined)
    yield* problems({ ...at, node: node.items, path: `${path}.items`, steps: [...at.steps, 0] });
  for (const [name, property] of node.properties ?? []) {
    const insideMeta = at.insideMeta || (node.embedded && RESOURCE_FIELDS.has(name));
    yield* problems({
      ...at,
      node: property,
      path: `${path}.properties[${name}]`,
      steps: [...at.steps, name],
      insideMeta,
    });
  }
}

function* valueProblems(node: SchemaNode, field: string): Causes {
  const value = cloneJson(node.default);
  const pruned = cloneJson(node.default);
  pruneValue(pruned, node, node.embedded);
  if (!equalJson(pruned, value)) yield fieldInvalid(field, value, "must not have unknown fields");
  const malformed = tryCoerceEmbedded(node, value);
  const embedded = malformed === undefined ? checkEmbedded(node, value) : [malformed];
  for (const cause of embedded) yield prefixed(cause, field);
  if (embedded.length === 0) yield* checkValues(node, value, { prefix: field });
}

function prefixed(cause: StatusCause, field: string): StatusCause {
  const below = cause.field ?? "";
  return { ...cause, field: below === "" ? field : `${field}${below.startsWith("[") ? "" : "."}${below}` };
}

/** Checks a default within metadata in an object that has nothing else. */
function* metaProblems({ node, path, resource, steps }: VisitedSchema): Causes {
  const field = `${path}.default`;
  const object = surrounding(cloneJson(node.default), steps);
  const malformed = tryCoerceEmbedded(resource, object);
  const embedded = malformed === undefined ? checkEmbedded(resource, object) : [malformed];
  if (embedded.length > 0)
    yield fieldInvalid(field, node.default, `must result in valid metadata: ${formatCauses(embedded)}`);
  else yield* checkValues(node, node.default, { prefix: field });
}

function surrounding(value: unknown, steps: readonly (string | 0)[]): JsonObject {
  const object: JsonObject = { apiVersion: "validation/v1", kind: "Validation" };
  const built = steps.reduceRight<unknown>((inner, step) => {
    if (step === 0) return [inner];
    const holder: JsonObject = {};
    setMember(holder, step, inner);
    return holder;
  }, value);
  return isJsonObject(built) ? Object.assign(object, built) : object;
}
