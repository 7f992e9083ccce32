import { isApiError } from "../../api-error.ts";
import { fieldInvalid, formatCauses } from "../../field-cause.ts";
import { cloneJson, equalJson, isJsonObject, type JsonObject, setMember } from "../../json/value.ts";
import type { StatusCause } from "../../status.ts";
import { checkValues } from "../check.ts";
import { checkEmbedded, coerceEmbedded, embeddedProblem } from "../embedded.ts";
import type { SchemaNode } from "../node.ts";
import { pruneValue } from "../prune.ts";

const META: ReadonlySet<string> = new Set(["metadata", "apiVersion", "kind"]);

/** A schema on the way, and the resource that it is a part of. */
interface Visited {
  readonly node: SchemaNode;
  readonly path: string;
  readonly resource: SchemaNode;
  /** From the resource to here; an item of a list has index 0. */
  readonly steps: readonly (string | 0)[];
  readonly insideMeta: boolean;
}

/** Defaults that their own schema would refuse or prune (apiextensions' defaulting.ValidateDefaults). */
export function defaultProblems(root: SchemaNode, path: string): StatusCause[] {
  const resource = asResource(root);
  return problems({ node: resource, path, resource, steps: [], insideMeta: false });
}

/** The root of an object is a resource, as those that are embedded. */
function asResource(node: SchemaNode): SchemaNode {
  return { ...node, embedded: true, tasks: { ...node.tasks, embedded: true } };
}

function problems(at: Visited): StatusCause[] {
  const { node, path } = at;
  if (node.embedded && at.steps.length > 0) return problems({ ...at, resource: node, steps: [], insideMeta: false });
  const causes: StatusCause[] = [];
  if (node.default !== undefined)
    causes.push(...(at.insideMeta ? metaProblems(at) : valueProblems(node, `${path}.default`)));
  if (node.items !== undefined)
    causes.push(...problems({ ...at, node: node.items, path: `${path}.items`, steps: [...at.steps, 0] }));
  for (const [name, property] of node.properties ?? []) {
    const insideMeta = at.insideMeta || (node.embedded && META.has(name));
    causes.push(
      ...problems({
        ...at,
        node: property,
        path: `${path}.properties[${name}]`,
        steps: [...at.steps, name],
        insideMeta,
      }),
    );
  }
  return causes;
}

function valueProblems(node: SchemaNode, field: string): StatusCause[] {
  const value = cloneJson(node.default);
  const pruned = cloneJson(node.default);
  pruneValue(pruned, node, node.embedded);
  const same = equalJson(pruned, value);
  const malformed = embeddedProblem(node, value);
  const unknown = same ? [] : [fieldInvalid(field, value, "must not have unknown fields")];
  if (malformed !== undefined) return [...unknown, prefixed(malformed, field)];
  const embedded = checkEmbedded(node, value);
  if (embedded.length > 0) return [...unknown, ...embedded.map((cause) => prefixed(cause, field))];
  return [...unknown, ...checkValues(node, value, { prefix: field })];
}

function prefixed(cause: StatusCause, field: string): StatusCause {
  const below = cause.field ?? "";
  return { ...cause, field: below === "" ? field : `${field}${below.startsWith("[") ? "" : "."}${below}` };
}

/** A default within metadata is tried in an object that has nothing else. */
function metaProblems({ node, path, resource, steps }: Visited): StatusCause[] {
  const field = `${path}.default`;
  const refused = (why: string): StatusCause[] => [
    fieldInvalid(field, node.default, `must result in valid metadata: ${why}`),
  ];
  const object = surrounding(cloneJson(node.default), steps);
  try {
    coerceEmbedded(resource, object);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return refused(error.message);
  }
  const causes = checkEmbedded(resource, object);
  return causes.length > 0 ? refused(formatCauses(causes)) : checkValues(node, node.default, { prefix: field });
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
