import { expectCode, expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, type JsonObject, show, textAt } from "../assertions/json.ts";
import { namesOf, readList, versionOf } from "../assertions/objects.ts";
import type { Answer } from "../http/answer.ts";
import type { Query } from "../http/client.ts";
import { expectWritten, RUN_LABEL } from "../writing/writer.ts";
import { type Deleting, deleteOptions, FINALIZER, Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "get", "list", "delete", "deletecollection"] as const;
const writes = true;

/** T10: deletecollection, as far as it does not need to delete namespaces. */
export const deleteCollectionChecks: readonly ResourceCheck[] = [
  {
    id: "T10.1",
    title: "deletecollection with a label selector deletes exactly the objects that a list with it returns",
    protects: "kubectl delete -l deletes everything",
    scope,
    verbs,
    writes,
    run: byLabel,
  },
  {
    id: "T10.2",
    title: "deletecollection with a field selector deletes only the object that it names",
    protects: "a controller that cleans up after one object deletes all objects",
    scope,
    verbs,
    writes,
    run: byField,
  },
  {
    id: "T10.3",
    title: "deletecollection returns the list of deleted objects, or a Status of success",
    protects: "clients cannot decode the answer and mistake a success for a failure",
    scope,
    verbs,
    writes,
    run: answers,
  },
  {
    id: "T10.4",
    title: "each object deleted with its collection gets one DELETED event with a version of its own",
    protects: "informers keep deleted objects",
    scope,
    verbs: [...verbs, "watch"],
    writes,
    run: toldEach,
  },
  {
    id: "T10.5",
    title: "finalizers keep objects of a deleted collection, with a deletionTimestamp",
    protects: "objects disappear before controllers have cleaned up after them",
    scope,
    verbs,
    writes,
    run: finalizersHold,
  },
  {
    id: "T10.6",
    title: "a dry run of deletecollection deletes nothing",
    protects: "a user who only wants to preview a deletion loses the objects",
    scope,
    verbs,
    writes,
    run: dryRun,
  },
  {
    id: "T10.7",
    title: "deletecollection with malformed selectors or options is rejected",
    protects: "a misspelled selector deletes everything",
    scope,
    verbs,
    writes,
    run: refusesMalformed,
  },
  {
    id: "T10.8",
    title: "preconditions of deletecollection apply to each object",
    protects: "objects are deleted that the client did not intend to delete",
    scope,
    verbs,
    writes,
    run: preconditions,
  },
];

async function byLabel(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const [first, second, other] = [await makeChosen(writes), await makeChosen(writes), await writes.make()];
  const answer = await deleteAll(writes, [first, second]);
  expectCode(answer, [200]);
  await writes.expectGone(first);
  await writes.expectGone(second);
  await writes.expectUnchanged(other, answer);
}

async function byField(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const [first, other] = [await writes.make(), await writes.make()];
  const fieldSelector = `metadata.name=${textAt(first, "metadata", "name")}`;
  const answer = await deleteAll(writes, [first], { query: { labelSelector: writes.writer.selector, fieldSelector } });
  expectCode(answer, [200]);
  await writes.expectGone(first);
  await writes.expectUnchanged(other, answer);
}

async function answers(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const made = [await makeChosen(writes), await makeChosen(writes)];
  const answer = await deleteAll(writes, made);
  const document = expectWritten(answer);
  if (document["kind"] === "Status") {
    expectSame(answer.request, "status", { expected: "Success", actual: document["status"] });
    return;
  }
  const { items } = readList(answer);
  if (!/.List$/.test(textAt(document, "kind")))
    fail(answer.request, "a kind that ends in List", show(document["kind"]));
  expectSame(answer.request, "deleted objects", { expected: namesOf(made), actual: namesOf(items) });
}

async function toldEach(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const made = [await makeChosen(writes), await makeChosen(writes)];
  const from = versionOf(made[1]);
  using stream = await writes.watch(from);
  expectCode(await deleteAll(writes, made), [200]);
  const marker = await writes.make();
  const { seen } = await writes.told(stream, { type: "ADDED", object: marker });
  const deleted = seen.filter(({ type }) => type === "DELETED");
  expectSame(stream.request, "DELETED events", {
    expected: namesOf(made),
    actual: namesOf(deleted.map(({ object }) => object)),
  });
  const versions = deleted.map(({ object }) => BigInt(versionOf(object)));
  if (new Set(versions).size !== versions.length || versions.some((version) => version <= BigInt(from)))
    fail(stream.request, `two versions above ${from}`, versions.join(", "));
}

async function finalizersHold(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const held = await makeChosen(writes, { finalizers: [FINALIZER] });
  const free = await makeChosen(writes);
  const answer = await deleteAll(writes, [held, free]);
  expectCode(answer, [200]);
  await writes.expectGone(free);
  const left = await writes.now(held);
  if (textAt(left, "metadata", "deletionTimestamp") === "")
    fail(answer.request, "an object with a deletionTimestamp", show(at(left, "metadata")));
}

async function dryRun(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await makeChosen(writes);
  const answer = await deleteAll(writes, [object], { query: { dryRun: "All" } });
  expectCode(answer, [200]);
  await writes.expectUnchanged(object, answer);
}

/** Sends dry runs, together with a selector for the check's own objects, so that a faulty server deletes nothing else. */
async function refusesMalformed(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await makeChosen(writes);
  const malformed: readonly Query[] = [
    { labelSelector: `${chosen(writes)},a in (` },
    { fieldSelector: "spec.no.such.field=1" },
    { limit: "many" },
    { propagationPolicy: "Sideways" },
  ];
  for (const query of malformed) {
    const answer = await deleteAll(writes, [object], { query: { dryRun: "All", ...query }, malformed: true });
    expectStatus(answer, { codes: [400, 422], reasons: ["BadRequest", "Invalid"] });
    await writes.expectUnchanged(object, answer);
  }
}

async function preconditions(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await makeChosen(writes);
  const options = { preconditions: { uid: "00000000-0000-4000-8000-000000000000" } };
  const answer = await deleteAll(writes, [object], { options });
  expectStatus(answer, { codes: [409], reasons: ["Conflict"] });
  await writes.expectUnchanged(object, answer);
}

/** Label whose value identifies the check. */
const CHOSEN = "conformance.virtual-workspaces.dev/chosen";

function makeChosen(writes: Writes, described: { readonly finalizers?: readonly string[] } = {}): Promise<JsonObject> {
  return writes.make({ ...described, labels: { [CHOSEN]: writes.mark } });
}

function chosen(writes: Writes): string {
  return `${writes.writer.selector},${CHOSEN}=${writes.mark}`;
}

interface DeletingAll extends Pick<Deleting, "query" | "options"> {
  /** Whether the list may reject the selectors too. @default false */
  readonly malformed?: boolean;
}

/**
 * Deletes a collection, but only after a list with the same selectors has returned nothing but the objects of the check. A
 * server with faulty selectors must not lose its user's objects to a check.
 */
async function deleteAll(
  writes: Writes,
  made: readonly JsonObject[],
  { query = {}, options, malformed = false }: DeletingAll = {},
): Promise<Answer> {
  const { path } = writes.writer;
  const selectors: Query = { labelSelector: chosen(writes), ...query };
  const { labelSelector, fieldSelector } = selectors;
  const listed = await writes.probe.get(path, { query: { labelSelector, fieldSelector } });
  if (!(malformed && listed.status === 400)) expectOnly(writes, made, listed);
  const grace = { gracePeriodSeconds: 0 };
  return options === undefined
    ? writes.send({ method: "DELETE", path, query: { ...selectors, ...grace } })
    : writes.send({ method: "DELETE", path, query: selectors, body: deleteOptions({ ...grace, ...options }) });
}

/** Expects a list to return exactly these objects. @throws CheckSkipped when it returns objects that the run did not create */
function expectOnly({ writer }: Writes, made: readonly JsonObject[], answer: Answer): void {
  const { items } = readList(answer);
  const foreign = items.find(({ metadata }) => metadata.labels?.[RUN_LABEL] !== writer.run);
  if (foreign !== undefined) skip(`not tried: the list with the same selectors also returns ${foreign.metadata.name}`);
  expectSame(answer.request, "the objects of the check: ", { expected: namesOf(made), actual: namesOf(items) });
}
