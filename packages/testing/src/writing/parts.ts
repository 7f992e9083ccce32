import { skip } from "../assertions/expect.ts";
import { at, fieldsAt, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import type { Query } from "../http/client.ts";
import { dereferenced, documentOf, schemaOf } from "../probe/openapi-documents.ts";
import { textsOf } from "./schema-values.ts";
import { expectWritten, messageOf } from "./writer.ts";
import type { Writes } from "./writes.ts";

/** Part of a collection that a selector selects, and how objects enter and leave it. */
export interface Part {
  readonly selector: Query;
  make(inside: boolean, finalizers?: readonly string[]): Promise<JsonObject>;
  move(object: JsonObject, inside: boolean): Promise<JsonObject>;
}

const LABEL = "conformance.virtual-workspaces.dev/part";

/** Returns the objects with a label that only this check sets. */
export async function partByLabel(writes: Writes): Promise<Part> {
  const labels = { [LABEL]: writes.mark };
  return {
    selector: { labelSelector: `${LABEL}=${writes.mark}` },
    make: (inside, finalizers) =>
      writes.make({ ...(inside ? { labels } : {}), ...(finalizers === undefined ? {} : { finalizers }) }),
    move: (object, inside) => writes.change(object, { labels: { [LABEL]: inside ? writes.mark : null } }),
  };
}

/**
 * Returns the objects with one of two values of a selectable field, according to the schema.
 *
 * @throws CheckSkipped when no selectable string field has two known values
 */
export async function partByField(writes: Writes): Promise<Part> {
  const { path, inside: value, outside } = await selectableField(writes);
  const contentOf = (inside: boolean): JsonObject =>
    path.reduceRight<unknown>((content, name) => ({ [name]: content }), inside ? value : outside) as JsonObject;
  return {
    selector: { fieldSelector: `${path.join(".")}=${value}`, labelSelector: writes.writer.selector },
    make: async (inside, finalizers) => {
      const draft = await writes.draft(finalizers === undefined ? {} : { finalizers });
      return expectAllowed(await writes.post(merged(draft, contentOf(inside))), [201]);
    },
    move: async (object, inside) => expectAllowed(await writes.patch(object, contentOf(inside)), [200]),
  };
}

/** Rules outside the schema may also restrict the field. */
function expectAllowed(answer: Answer, codes: readonly number[]): JsonObject {
  if (answer.status === 422) skip(`the selectable field cannot be changed: ${messageOf(answer)}`);
  return expectWritten(answer, codes);
}

async function selectableField(
  writes: Writes,
): Promise<{ readonly path: readonly string[]; readonly inside: string; readonly outside: string }> {
  const { document } = await documentOf(writes.probe);
  const schema = schemaOf(document, writes.probe.resource);
  for (const field of listAt(schema, "x-kubernetes-selectable-fields")) {
    const path = textAt(field, "fieldPath").split(".").filter(Boolean);
    if (path[0] === "status") continue;
    let found: unknown = schema;
    for (const name of path) found = dereferenced(document, at(found, "properties", name));
    const words = listAt(found, "enum").filter((word) => typeof word === "string");
    const [inside, outside] = words.length > 0 ? words : at(found, "type") === "string" ? textsOf(found, 2) : [];
    if (inside !== undefined && outside !== undefined) return { path, inside, outside };
  }
  return skip("the schema has no selectable string field with two known values");
}

/** Merges objects; members of the second one win. */
function merged(into: JsonObject, from: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...into };
  for (const [name, value] of fieldsAt(from)) {
    const before = result[name];
    const both = typeof before === "object" && before !== null && typeof value === "object" && value !== null;
    result[name] = both ? merged(before as JsonObject, value as JsonObject) : value;
  }
  return result;
}
