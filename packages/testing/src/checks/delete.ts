import { expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, listAt, show, textAt } from "../assertions/json.ts";
import { versionOf } from "../assertions/objects.ts";
import { expectWritten } from "../writing/writer.ts";
import { FINALIZER, Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "get", "delete"] as const;
const writes = true;

/** V, continued: delete. */
export const deleteChecks: readonly ResourceCheck[] = [
  {
    id: "V13",
    title: "delete returns the object or a Status that names it; the object is gone, and a second delete gets 404",
    protects: "kubectl delete waits forever, or returns before the object is gone",
    scope,
    verbs,
    writes,
    run: deletes,
  },
  {
    id: "V14",
    title: "a delete with a failing precondition of uid or version gets 409 Conflict, and deletes nothing",
    protects: "a controller deletes the object that replaced the intended one",
    scope,
    verbs: [...verbs, "patch"],
    writes,
    run: preconditions,
  },
  {
    id: "V15",
    title:
      "a finalizer keeps a deleted object, with a deletionTimestamp, until it is removed; no finalizer can be added",
    protects: "an object disappears before its controller has cleaned up after it, or never disappears",
    scope,
    verbs: [...verbs, "patch"],
    writes,
    run: finalizers,
  },
  {
    id: "V16",
    title: "every propagation policy is accepted; unknown and contradictory ones are rejected",
    protects: "kubectl delete --cascade fails",
    scope,
    verbs,
    writes,
    run: propagation,
  },
  {
    id: "V25",
    title: "with a grace period, objects get a deletionTimestamp; a shorter period brings it forward",
    protects: "objects disappear while they still work, or stay after their grace period",
    scope,
    verbs,
    writes,
    run: grace,
  },
];

async function deletes(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await writes.make();
  const answer = await writes.delete(object);
  const document = expectWritten(answer, [200, 202]);
  const isStatus = document["kind"] === "Status";
  if (isStatus) expectSame(answer.request, "status", { expected: "Success", actual: document["status"] });
  const place = isStatus ? "details" : "metadata";
  for (const field of ["name", "uid"]) {
    const pair = { expected: at(object, "metadata", field), actual: at(document, place, field) };
    expectSame(answer.request, `${place}.${field}`, pair);
  }
  await writes.expectGone(object);
  expectStatus(await writes.delete(object), { codes: [404], reasons: ["NotFound"] });
}

async function preconditions(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make();
  const object = await writes.change(before, { annotations: { "example.com/a": "1" } });
  const wrong = [{ uid: "00000000-0000-4000-8000-000000000000" }, { resourceVersion: versionOf(before) }];
  for (const preconditions of wrong) {
    const answer = await writes.delete(object, { options: { preconditions } });
    expectStatus(answer, { codes: [409], reasons: ["Conflict"] });
    await writes.expectUnchanged(object, answer);
  }
  const right = { uid: at(object, "metadata", "uid"), resourceVersion: versionOf(object) };
  expectWritten(await writes.delete(object, { options: { preconditions: right } }), [200, 202]);
  await writes.expectGone(object);
}

async function finalizers(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await writes.make({ finalizers: [FINALIZER] });
  const answer = await writes.delete(object);
  const marked = expectWritten(answer, [200, 202]);
  if (textAt(marked, "metadata", "deletionTimestamp") === "")
    fail(answer.request, "the object with a deletionTimestamp", show(marked));
  const kept = await writes.now(object);
  expectSame(answer.request, "the object from get: ", { expected: kept, actual: marked });
  const again = expectWritten(await writes.delete(object), [200, 202]);
  expectSame(answer.request, "the same object after a second delete: ", { expected: kept, actual: again });
  const more = await writes.patch(object, { metadata: { finalizers: [FINALIZER, "example.com/another"] } });
  expectStatus(more, { codes: [422], reasons: ["Invalid"] });
  const released = await writes.patch(object, { metadata: { finalizers: null } });
  const last = expectWritten(released);
  expectSame(released.request, "finalizers", { expected: [], actual: listAt(last, "metadata", "finalizers") });
  await writes.expectGone(object);
}

async function propagation(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  for (const propagationPolicy of ["Background", "Foreground", "Orphan"]) {
    const object = await writes.make();
    const answer = await writes.delete(object, { options: { propagationPolicy } });
    const document = expectWritten(answer, [200, 202]);
    // A garbage collector's finalizer may hold the object until the collector has finished.
    const held = listAt(document, "metadata", "finalizers").length > 0;
    if (!held) await writes.expectGone(object);
    else if (textAt(document, "metadata", "deletionTimestamp") === "")
      fail(answer.request, "an object with a deletionTimestamp", show(document));
  }
  const object = await writes.make();
  const wrong = [
    { propagationPolicy: "Sideways" },
    { propagationPolicy: "Background", orphanDependents: true },
    { gracePeriodSeconds: "soon" },
  ];
  for (const options of wrong) {
    const answer = await writes.delete(object, { options });
    expectStatus(answer, { codes: [400, 422], reasons: ["BadRequest", "Invalid"] });
    await writes.expectUnchanged(object, answer);
  }
}

/** Tests graceful deletion as for pods: the object gets a deletionTimestamp, a shorter period brings it forward, and 0 deletes now. */
async function grace(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await writes.make();
  const deleted = await writes.delete(object, { graceful: true });
  const marked = expectWritten(deleted, [200, 202]);
  const period = at(marked, "metadata", "deletionGracePeriodSeconds");
  if (typeof period !== "number" || period <= 1) skip("objects of this kind have no grace period");
  const end = Date.parse(textAt(marked, "metadata", "deletionTimestamp"));
  const longer = await writes.delete(object, { options: { gracePeriodSeconds: period + 60 } });
  const pair = {
    expected: end,
    actual: Date.parse(textAt(expectWritten(longer, [200, 202]), "metadata", "deletionTimestamp")),
  };
  expectSame(longer.request, "the deletionTimestamp that was set before: ", pair);
  const shorter = await writes.delete(object, { options: { gracePeriodSeconds: 1 } });
  const sooner = expectWritten(shorter, [200, 202]);
  expectSame(shorter.request, "deletionGracePeriodSeconds", {
    expected: 1,
    actual: at(sooner, "metadata", "deletionGracePeriodSeconds"),
  });
  if (!(Date.parse(textAt(sooner, "metadata", "deletionTimestamp")) < end))
    fail(
      shorter.request,
      "a deletionTimestamp before the one that was set",
      textAt(sooner, "metadata", "deletionTimestamp"),
    );
  expectWritten(await writes.delete(object), [200, 202]);
  await writes.expectGone(object);
}
