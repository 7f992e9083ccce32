import { at, isObject, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import type { HttpClient, Query } from "../http/client.ts";
import { APPLY_PATCH, expectWritten, type ObjectDraft } from "./writer.ts";
import type { Writes } from "./writes.ts";

/** Fields of an object that a manager applies: annotations, and the rest of its content. */
export interface Applied {
  /** Field manager. @default "conformance-one" */
  readonly by?: string;
  readonly annotations?: JsonObject;
  readonly query?: Query;
  readonly client?: HttpClient;
}

/** Applies a draft with annotations, which every kind has. */
export function apply(writes: Writes, draft: ObjectDraft, applied: Applied = {}): Promise<Answer> {
  const { by = "conformance-one", annotations = {}, query = {}, client } = applied;
  const body = { ...draft, metadata: { ...draft.metadata, ...described({ ...annotationsOf(draft), ...annotations }) } };
  return applyBody(writes, body, { query: { fieldManager: by, ...query }, client });
}

/** Applies only annotations, so that the manager owns nothing else. */
export function applyOnly(
  writes: Writes,
  { apiVersion, kind, metadata }: ObjectDraft,
  applied: Applied,
): Promise<Answer> {
  const { by = "conformance-one", annotations = {}, query = {}, client } = applied;
  const { name, namespace } = metadata;
  const body = { apiVersion, kind, metadata: { name, namespace, ...described(annotations) } };
  return applyBody(writes, body, { query: { fieldManager: by, ...query }, client });
}

/** Kubernetes treats an empty map as a field too, and would own and write it each time. */
function described(annotations: JsonObject): { readonly annotations?: JsonObject } {
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

function applyBody(
  writes: Writes,
  body: JsonObject,
  options: { readonly query: Query; readonly client: HttpClient | undefined },
): Promise<Answer> {
  return writes.send({ method: "PATCH", path: writes.pathOf(body), type: APPLY_PATCH, body, ...options });
}

/** Returns the object after an apply by the first manager. */
export async function applied(
  writes: Writes,
  annotations: JsonObject,
): Promise<{ draft: ObjectDraft; object: JsonObject }> {
  const draft = await writes.draft();
  const object = expectWritten(await apply(writes, draft, { annotations }), [201]);
  return { draft, object };
}

export function annotationsOf(object: unknown): JsonObject {
  const found = at(object, "metadata", "annotations");
  return isObject(found) ? found : {};
}

/** Returns the annotations that a manager owns, sorted, by default for Apply. */
export function ownedBy(object: unknown, manager: string, operation = "Apply"): readonly string[] {
  const entries = listAt(object, "metadata", "managedFields").filter(
    (entry) => textAt(entry, "manager") === manager && textAt(entry, "operation") === operation,
  );
  const owned = entries.flatMap((entry) => {
    const fields = at(entry, "fieldsV1", "f:metadata", "f:annotations");
    return isObject(fields) ? Object.keys(fields) : [];
  });
  return owned
    .filter((field) => field.startsWith("f:"))
    .map((field) => field.slice(2))
    .sort();
}
