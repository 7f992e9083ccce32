import { expectSame, expectStatus, fail } from "../assertions/expect.ts";
import { at, type JsonObject, listAt, show, textAt } from "../assertions/json.ts";
import type { RequestLine } from "../http/answer.ts";
import { annotationsOf, applied, apply, applyOnly, ownedBy } from "../writing/apply-requests.ts";
import { expectWritten } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "patch", "get", "delete"] as const;
const writes = true;
const ONE = "conformance-one";
const TWO = "conformance-two";
const A = "example.com/a";
const B = "example.com/b";

/** T9, continued: ownership of fields. */
export const applyOwnerChecks: readonly ResourceCheck[] = [
  {
    id: "T9.10",
    title: "an apply that changes a field of another manager gets 409 with a cause for it, and changes nothing",
    protects: "two controllers overwrite each other forever without an error",
    scope,
    verbs,
    writes,
    run: conflicts,
  },
  {
    id: "T9.11",
    title: "force takes over the field: the value changes, and the other manager no longer owns it",
    protects: "a field that was taken over keeps conflicting",
    scope,
    verbs,
    writes,
    run: forces,
  },
  {
    id: "T9.12",
    title: "a field that two managers apply with the same value belongs to both, until the last one drops it",
    protects: "a manager that drops a field removes it although another manager still applies it",
    scope,
    verbs,
    writes,
    run: shares,
  },
  {
    id: "T9.13",
    title: "a field that its only manager drops is removed",
    protects: "a field that was deleted from a manifest stays forever",
    scope,
    verbs,
    writes,
    run: removes,
  },
  {
    id: "T9.14",
    title: "other writes of a field make their own manager its owner",
    protects: "an apply reverts a manual change without a conflict",
    scope,
    verbs: [...verbs, "update"],
    writes,
    run: otherVerbs,
  },
  {
    id: "T9.15",
    title: "managedFields survive writes of clients that omit them",
    protects: "an update by an old client removes the owner of every field",
    scope,
    verbs: [...verbs, "update"],
    writes,
    run: outlives,
  },
];

async function conflicts(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft, object } = await applied(writes, { [A]: "1" });
  const answer = await applyOnly(writes, draft, { by: TWO, annotations: { [A]: "2" } });
  const status = expectStatus(answer, { codes: [409], reasons: ["Conflict"] });
  const [cause, ...others] = listAt(status, "details", "causes");
  const { reason, field } = (cause ?? {}) as JsonObject;
  expectSame(answer.request, "details.causes", {
    expected: { reason: "FieldManagerConflict", field: `.metadata.annotations.${A}`, others: 0 },
    actual: { reason, field, others: others.length },
  });
  if (!textAt(cause, "message").includes(ONE))
    fail(answer.request, `a message of the cause that names ${ONE}`, show(cause));
  await writes.expectUnchanged(object, answer);
}

async function forces(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft } = await applied(writes, { [A]: "1", [B]: "1" });
  const answer = await applyOnly(writes, draft, { by: TWO, annotations: { [A]: "2" }, query: { force: "true" } });
  const after = expectWritten(answer);
  expectSame(answer.request, "the annotation", { expected: "2", actual: annotationsOf(after)[A] });
  expectOwners(answer.request, after, { [ONE]: [B], [TWO]: [A] });
  // Dropping a field that the manager no longer owns removes nothing.
  const dropped = await apply(writes, draft, { annotations: { [B]: "1" } });
  const left = annotationsOf(expectWritten(dropped))[A];
  expectSame(dropped.request, "the annotation", { expected: "2", actual: left });
}

async function shares(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft } = await applied(writes, { [A]: "1" });
  const both = await applyOnly(writes, draft, { by: TWO, annotations: { [A]: "1" } });
  expectOwners(both.request, expectWritten(both), { [ONE]: [A], [TWO]: [A] });
  const one = await apply(writes, draft);
  const kept = annotationsOf(expectWritten(one))[A];
  expectSame(one.request, "the annotation that another manager still applies", { expected: "1", actual: kept });
  expectOwners(one.request, await writes.now(draft), { [ONE]: [], [TWO]: [A] });
  const none = await applyOnly(writes, draft, { by: TWO, annotations: {} });
  const left = annotationsOf(expectWritten(none))[A];
  expectSame(none.request, "the annotation that no manager applies", { expected: undefined, actual: left });
}

async function removes(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft } = await applied(writes, { [A]: "1", [B]: "1" });
  const answer = await apply(writes, draft, { annotations: { [B]: "1" } });
  const after = expectWritten(answer);
  const { [A]: a, [B]: b } = annotationsOf(after);
  expectSame(answer.request, "annotations", { expected: [undefined, "1"], actual: [a, b] });
  expectOwners(answer.request, after, { [ONE]: [B] });
}

async function otherVerbs(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { draft, object } = await applied(writes, { [A]: "1", [B]: "1" });
  const query = { fieldManager: TWO };
  const patched = await writes.patch(object, { metadata: { annotations: { [A]: "2" } } }, query);
  const after = expectWritten(patched);
  expectOwners(patched.request, after, { [ONE]: [B] });
  expectSame(patched.request, `annotations of ${TWO} by Update`, {
    expected: [A],
    actual: ownedBy(after, TWO, "Update"),
  });
  const metadata = { ...(after["metadata"] as JsonObject), annotations: { ...annotationsOf(after), [B]: "2" } };
  const put = await writes.put({ ...after, metadata }, query);
  expectSame(put.request, `annotations of ${TWO} by Update`, {
    expected: [A, B],
    actual: ownedBy(expectWritten(put), TWO, "Update"),
  });
  const again = await apply(writes, draft, { annotations: { [A]: "1", [B]: "2" } });
  const status = expectStatus(again, { codes: [409], reasons: ["Conflict"] });
  const fields = listAt(status, "details", "causes").map((cause) => textAt(cause, "field"));
  expectSame(again.request, "fields in conflict", { expected: [`.metadata.annotations.${A}`], actual: fields });
}

async function outlives(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const { object } = await applied(writes, { [A]: "1" });
  const { managedFields: _left, ...metadata } = object["metadata"] as JsonObject;
  const annotations = { ...annotationsOf(object), [B]: "1" };
  const answer = await writes.put({ ...object, metadata: { ...metadata, annotations } }, { fieldManager: TWO });
  expectOwners(answer.request, expectWritten(answer), { [ONE]: [A] });
  const patched = await writes.patch(object, { metadata: { annotations: { [B]: "2" } } }, { fieldManager: TWO });
  const written = expectWritten(patched);
  expectOwners(patched.request, written, { [ONE]: [A] });
  const shown = at(await writes.now(object), "metadata", "managedFields");
  expectSame(patched.request, "managedFields as returned by get", {
    expected: at(written, "metadata", "managedFields"),
    actual: shown,
  });
}

/** Expects which manager has applied which of the checks' annotations. */
function expectOwners(
  request: RequestLine,
  object: unknown,
  owners: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [manager, expected] of Object.entries(owners)) {
    const actual = ownedBy(object, manager).filter((name) => name === A || name === B);
    expectSame(request, `annotations that ${manager} has applied`, { expected, actual });
  }
}
