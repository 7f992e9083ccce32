import { expectSame, skip } from "../assertions/expect.ts";
import { at, fieldsAt, isObject, type JsonObject, listAt } from "../assertions/json.ts";
import { dereferenced, documentOf, schemaOf } from "../probe/openapi-documents.ts";
import { MERGE_PATCH } from "../writing/remove.ts";
import { minimal, Unmakeable } from "../writing/schema-values.ts";
import { expectWritten } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "update", "patch", "get", "delete"] as const;
const writes = true;

/** V, continued: `/status`. */
export const statusChecks: readonly ResourceCheck[] = [
  {
    id: "V23",
    title: "a resource with /status accepts status there and nowhere else",
    protects: "users forge the reports of controllers, and every apply of a user removes them",
    scope,
    verbs,
    writes,
    run: statusApart,
  },
  {
    id: "V24",
    title: "a write of /status changes only status, and the generation stays",
    protects: "a controller that may only report changes the spec, or triggers itself forever",
    scope,
    verbs,
    writes,
    run: statusAlone,
  },
];

async function statusApart(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { field, value } = await statusField(probe);
  const status = { [field]: value };
  const created = await writes.post({ ...(await writes.draft()), status });
  const object = expectWritten(created, [201]);
  const initial = at(object, "status", field);
  expectSame(created.request, `status.${field} different from the client's value`, {
    expected: false,
    actual: same(initial, value),
  });
  const put = await writes.put({ ...object, status });
  expectSame(put.request, `status.${field}`, { expected: initial, actual: at(expectWritten(put), "status", field) });
  const reported = await writes.send({
    method: "PATCH",
    path: `${writes.pathOf(object)}/status`,
    type: MERGE_PATCH,
    body: { status },
  });
  expectSame(reported.request, `status.${field}`, {
    expected: value,
    actual: at(expectWritten(reported), "status", field),
  });
  const { status: _status, ...without } = await writes.now(object);
  const last = await writes.put(without);
  expectSame(last.request, `status.${field}`, { expected: value, actual: at(expectWritten(last), "status", field) });
}

async function statusAlone(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { field, value } = await statusField(probe);
  const object = await writes.make();
  const metadata = { ...(object["metadata"] as JsonObject), finalizers: ["example.com/sneaked-in"] };
  const { spec, ...rest } = object;
  const path = `${writes.pathOf(object)}/status`;
  const changed = isObject(spec) ? { spec: { ...spec, conformanceUnknown: 1 } } : {};
  const body = { ...rest, ...changed, metadata, status: { [field]: value } };
  const answer = await writes.send({ method: "PUT", path, body, query: { fieldValidation: "Ignore" } });
  const after = expectWritten(answer);
  expectSame(answer.request, `status.${field}`, { expected: value, actual: at(after, "status", field) });
  const main = await writes.now(object);
  for (const [what, ...place] of [["spec"], ["metadata", "generation"], ["metadata", "finalizers"]] as const) {
    const pair = { expected: at(object, what, ...place), actual: at(main, what, ...place) };
    expectSame(answer.request, [what, ...place].join("."), pair);
  }
}

/** Returns a field of status and a value that differs from its own. @throws CheckSkipped when there is none */
async function statusField(probe: ResourceProbe): Promise<{ readonly field: string; readonly value: unknown }> {
  const { name, group, version } = probe.resource;
  const status = probe.discovery.resources.find(
    (one) => one.name === `${name}/status` && one.group === group && one.version === version,
  );
  if (status === undefined) skip("the resource has no /status");
  if (!["update", "patch"].every((verb) => status.verbs.includes(verb))) skip("/status cannot be written");
  const { document } = await documentOf(probe);
  const schema = dereferenced(document, at(schemaOf(document, probe.resource), "properties", "status"));
  for (const [field, own] of fieldsAt(schema, "properties")) {
    const value = statusValue(document, own);
    if (value !== undefined) return { field, value };
  }
  return skip("the schema of status has no string, number or boolean field");
}

function statusValue(document: JsonObject, schema: unknown): unknown {
  const { default: usual, ...own } = (dereferenced(document, schema) ?? {}) as JsonObject;
  const choice = listAt(own, "enum").filter((one) => one !== usual);
  const other = choice.length === 0 ? own : { ...own, enum: choice };
  const unusual = (value: unknown): unknown => (value === usual ? undefined : value);
  try {
    if (own["type"] === "boolean") return unusual(true);
    if (own["type"] === "integer") return unusual(Number(minimal(document, { minimum: 1, ...other })));
    return own["type"] === "string" ? unusual(minimal(document, other)) : undefined;
  } catch (error) {
    if (error instanceof Unmakeable) return undefined;
    throw error;
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
