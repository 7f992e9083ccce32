import { expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, isObject, listAt, show, textAt } from "../assertions/json.ts";
import { versionOf } from "../assertions/objects.ts";
import { annotationsOf, applied, apply, applyOnly } from "../writing/apply-requests.ts";
import { APPLY_PATCH, expectWritten } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "patch", "get", "delete"] as const;
const writes = true;
const A = "example.com/a";

/** T9: server-side apply. */
export const applyChecks: readonly ResourceCheck[] = [
  {
    id: "T9.1",
    title: "an apply of a missing object creates it with 201, and repeating it gets 200 and changes nothing",
    protects: "controllers that apply their desired state trigger themselves forever",
    scope,
    verbs,
    writes,
    run: createsAndStays,
  },
  {
    id: "T9.2",
    title: "managedFields records which manager applied which field",
    protects: "users cannot find out which manager owns a field",
    scope,
    verbs,
    writes,
    run: saysWho,
  },
  {
    id: "T9.3",
    title: "an apply changes its own fields and leaves those of others",
    protects: "kubectl apply --server-side reverts the writes of controllers",
    scope,
    verbs,
    writes,
    run: changesItsOwn,
  },
  {
    id: "T9.4",
    title: "an apply without a field manager, with unknown fields or under a different name is rejected",
    protects: "fields have no owner, and an apply cannot remove them",
    scope,
    verbs,
    writes,
    run: refusesMalformed,
  },
  {
    id: "T9.5",
    title: "an apply can be YAML or JSON",
    protects: "kubectl apply --server-side sends YAML",
    scope,
    verbs,
    writes,
    run: takesYaml,
  },
  {
    id: "T9.6",
    title: "a dry run of an apply returns the result and changes nothing",
    protects: "kubectl diff --server-side changes the object that it shows",
    scope,
    verbs,
    writes,
    run: dryRun,
  },
  {
    id: "T9.7",
    title: "an apply with an old version gets 409 Conflict and changes nothing",
    protects: "optimistic locks of controllers have no effect",
    scope,
    verbs,
    writes,
    run: locks,
  },
  {
    id: "T9.8",
    title: "an apply that creates is authorized as a create",
    protects: "users who may only patch existing objects create new ones",
    scope,
    verbs,
    writes,
    run: authorisedAsCreate,
  },
];

async function createsAndStays(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft();
  const first = await apply(writes, draft);
  const created = expectWritten(first, [201]);
  expectSame(first.request, "the object from get: ", { expected: await writes.now(draft), actual: created });
  const second = await apply(writes, draft);
  const pair = { expected: versionOf(created), actual: versionOf(expectWritten(second)) };
  expectSame(second.request, "metadata.resourceVersion", pair);
}

async function saysWho(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft, object } = await applied(writes, { [A]: "1" });
  const { request } = await probe.get(writes.pathOf(draft));
  const entries = listAt(object, "metadata", "managedFields");
  const entry = entries.find((one) => textAt(one, "manager") === "conformance-one");
  if (!isObject(entry)) fail(request, "an entry of managedFields with the manager conformance-one", show(entries));
  const { operation, apiVersion, fieldsType, time } = entry;
  expectSame(request, "managedFields", {
    expected: { operation: "Apply", apiVersion: probe.apiVersion, fieldsType: "FieldsV1", time: "a time" },
    actual: { operation, apiVersion, fieldsType, time: Number.isNaN(Date.parse(String(time))) ? time : "a time" },
  });
  expectSame(request, `fieldsV1 f:metadata f:annotations f:${A}`, {
    expected: {},
    actual: at(entry, "fieldsV1", "f:metadata", "f:annotations", `f:${A}`),
  });
}

async function changesItsOwn(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft, object } = await applied(writes, { [A]: "1" });
  await writes.change(object, { annotations: { "example.com/other": "stays" } });
  const answer = await apply(writes, draft, { annotations: { [A]: "2" } });
  const { [A]: changed, "example.com/other": other } = annotationsOf(expectWritten(answer));
  expectSame(answer.request, "annotations", { expected: ["2", "stays"], actual: [changed, other] });
}

async function refusesMalformed(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft();
  const path = writes.pathOf(draft);
  const without = await writes.send({ method: "PATCH", path, type: APPLY_PATCH, body: draft });
  expectStatus(without, { codes: [400, 422], reasons: ["BadRequest", "Invalid"] });
  await writes.expectGone(draft);
  const { object } = await applied(writes, { [A]: "1" });
  const query = { fieldManager: "conformance-one" };
  const owning = { ...draft, metadata: { ...draft.metadata, managedFields: at(object, "metadata", "managedFields") } };
  const refused = await writes.send({ method: "PATCH", path, type: APPLY_PATCH, query, body: owning });
  expectStatus(refused, { codes: [400, 422], reasons: ["BadRequest", "Invalid"] });
  const mismatch = await writes.send({
    method: "PATCH",
    path: writes.pathOf(object),
    type: APPLY_PATCH,
    query,
    body: draft,
  });
  expectStatus(mismatch, { codes: [400], reasons: ["BadRequest"] });
  await writes.expectUnchanged(object, mismatch);
}

/** Sends YAML in the block style that people write. A JSON string is also a YAML scalar, and a JSON object a flow mapping. */
async function takesYaml(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft({ annotations: { [A]: "1" } });
  const lines = Object.entries(draft).map(([field, value]) => `${field}: ${JSON.stringify(value)}`);
  const raw = ["# An apply configuration", ...lines, ""].join("\n");
  const query = { fieldManager: "conformance-one" };
  const answer = await writes.send({ method: "PATCH", path: writes.pathOf(draft), type: APPLY_PATCH, query, raw });
  expectSame(answer.request, "the annotation", {
    expected: "1",
    actual: annotationsOf(expectWritten(answer, [201]))[A],
  });
}

async function dryRun(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const query = { dryRun: "All" };
  const draft = await writes.draft();
  expectWritten(await apply(writes, draft, { query }), [201]);
  await writes.expectGone(draft);
  const { draft: there, object } = await applied(writes, { [A]: "1" });
  const answer = await apply(writes, there, { annotations: { [A]: "2" }, query });
  const shown = annotationsOf(expectWritten(answer))[A];
  expectSame(answer.request, "the annotation in the answer to the dry run", { expected: "2", actual: shown });
  await writes.expectUnchanged(object, answer);
}

async function locks(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft, object } = await applied(writes, { [A]: "1" });
  const after = await writes.change(object, { annotations: { "example.com/other": "1" } });
  const old = { ...draft, metadata: { ...draft.metadata, resourceVersion: versionOf(object) } };
  const answer = await apply(writes, old, { annotations: { [A]: "2" } });
  expectStatus(answer, { codes: [409], reasons: ["Conflict"] });
  await writes.expectUnchanged(after, answer);
}

async function authorisedAsCreate(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const client = writes.writer.patchOnly;
  if (client === undefined) skip("needs credentials of a user who may patch but not create (patchOnly)");
  const { draft, object } = await applied(writes, { [A]: "1" });
  const changed = await applyOnly(writes, draft, {
    by: "conformance-two",
    annotations: { "example.com/b": "1" },
    client,
  });
  if (changed.status === 403) skip("the user of patchOnly may not patch");
  expectWritten(changed);
  if (versionOf(await writes.now(object)) === versionOf(object)) fail(changed.request, "a change", "none");
  const absent = await writes.draft();
  const refused = await apply(writes, absent, { client });
  expectStatus(refused, { codes: [403], reasons: ["Forbidden"] });
  await writes.expectGone(absent);
}
