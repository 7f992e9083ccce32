import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import { expectSame, expectStatus, fail } from "../assertions/expect.ts";
import { at, type JsonObject, show } from "../assertions/json.ts";
import { versionOf } from "../assertions/objects.ts";
import { expectWritten } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "update", "get", "delete"] as const;
const writes = true;
const CONFLICT = { codes: [409], reasons: ["Conflict"] };

/** V, continued: update. */
export const updateChecks: readonly ResourceCheck[] = [
  {
    id: "V6",
    title: "update returns the object with a greater version, as get does; uid and creation time stay",
    protects: "a client's next update conflicts with its previous one",
    scope,
    verbs,
    writes,
    run: updates,
  },
  {
    id: "V7",
    title: "an update with an old version or another uid gets 409 Conflict and changes nothing",
    protects: "two writers overwrite each other without an error",
    scope,
    verbs,
    writes,
    run: refusesStale,
  },
  {
    id: "V8",
    title: "an update or a patch that changes nothing keeps the version and sends no event",
    protects: "two controllers that both write their desired state trigger each other forever",
    scope,
    verbs: [...verbs, "patch", "watch"],
    writes,
    run: nothingChanges,
  },
  {
    id: "V9",
    title: "an update of a missing object gets 404, and one under a different name 400",
    protects: "a deleted object returns, or another object is overwritten",
    scope,
    verbs,
    writes,
    run: refusesOthers,
  },
];

async function updates(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make();
  const answer = await writes.put(annotated(before, { "example.com/note": "new" }));
  const after = expectWritten(answer);
  for (const field of ["name", "namespace", "uid", "creationTimestamp"]) {
    const pair = { expected: at(before, "metadata", field), actual: at(after, "metadata", field) };
    expectSame(answer.request, `metadata.${field}`, pair);
  }
  if (compareResourceVersions(versionOf(after), versionOf(before)) <= 0)
    fail(answer.request, `a version above ${versionOf(before)}`, show(versionOf(after)));
  const note = at(after, "metadata", "annotations", "example.com/note");
  expectSame(answer.request, "the new annotation", { expected: "new", actual: note });
  expectSame(answer.request, "the object from get: ", { expected: await writes.now(before), actual: after });
}

async function refusesStale(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make();
  const after = expectWritten(await writes.put(annotated(before, { "example.com/note": "first" })));
  const stale = await writes.put(annotated(before, { "example.com/note": "second" }));
  expectStatus(stale, CONFLICT);
  await writes.expectUnchanged(after, stale);
  const metadata = { ...(after["metadata"] as JsonObject), uid: "00000000-0000-4000-8000-000000000000" };
  const other = await writes.put(annotated({ ...after, metadata }, { "example.com/note": "third" }));
  expectStatus(other, CONFLICT);
  await writes.expectUnchanged(after, other);
}

async function nothingChanges(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make({ annotations: { "example.com/note": "old" } });
  using stream = await writes.watch(versionOf(before));
  const answers = [
    await writes.put(await writes.now(before)),
    await writes.patch(before, { metadata: { annotations: { "example.com/note": "old" } } }),
    await writes.patch(before, {}),
  ];
  for (const answer of answers) {
    const actual = versionOf(expectWritten(answer));
    expectSame(answer.request, "metadata.resourceVersion", { expected: versionOf(before), actual });
  }
  await writes.change(before, { annotations: { "example.com/note": "last" } });
  const { seen } = await writes.told(stream, { type: "MODIFIED", object: before });
  const told = seen.map(({ object }) => at(object, "metadata", "annotations", "example.com/note"));
  expectSame(stream.request, "only events of the change", { expected: ["last"], actual: told });
}

async function refusesOthers(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await writes.make();
  const absent = await writes.draft();
  const { uid: _uid, ...metadata } = object["metadata"] as JsonObject;
  const gone = { ...object, metadata: { ...metadata, name: absent.metadata.name } };
  // An update creates objects of some built-in kinds, but not an object that had a version.
  expectStatus(await writes.put(gone), { codes: [404, 409], reasons: ["NotFound", "Conflict"] });
  await writes.expectGone(absent);
  const path = writes.pathOf(object);
  const mismatch = await writes.send({ method: "PUT", path, body: gone });
  expectStatus(mismatch, { codes: [400], reasons: ["BadRequest"] });
  await writes.expectUnchanged(object, mismatch);
}

/** Returns the object with added annotations. */
function annotated(object: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = object["metadata"] as JsonObject;
  const before = metadata["annotations"] as JsonObject | undefined;
  return { ...object, metadata: { ...metadata, annotations: { ...before, ...annotations } } };
}
