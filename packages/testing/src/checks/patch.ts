import { expectSame, expectStatus } from "../assertions/expect.ts";
import { at, type JsonObject } from "../assertions/json.ts";
import { versionOf } from "../assertions/objects.ts";
import { expectWritten, JSON_PATCH, type WriteRequest } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "patch", "get", "delete"] as const;
const writes = true;
const CONFLICT = { codes: [409], reasons: ["Conflict"] };

/** V, continued: patch. */
export const patchChecks: readonly ResourceCheck[] = [
  {
    id: "V10",
    title: "a merge patch sets its fields, removes those that are null, and keeps the rest",
    protects: "kubectl annotate and label, and controllers that patch, revert each other's work",
    scope,
    verbs,
    writes,
    run: merges,
  },
  {
    id: "V11",
    title: "a JSON patch applies as a whole or, when a test fails, not at all",
    protects: "a patch that guards itself with a test applies to another state",
    scope,
    verbs,
    writes,
    run: jsonPatches,
  },
  {
    id: "V12",
    title:
      "a patch with an old version gets 409 Conflict, one with another uid is rejected, one of a missing object gets 404",
    protects: "optimistic locks of controllers have no effect",
    scope,
    verbs,
    writes,
    run: patchLocks,
  },
];

const annotations = (object: unknown): unknown => at(object, "metadata", "annotations");

async function merges(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make({
    annotations: { "example.com/a": "1", "example.com/b": "2", "example.com/c": "3" },
  });
  const change = { "example.com/a": "new", "example.com/b": null, "example.com/d": "4" };
  const answer = await writes.patch(before, { metadata: { annotations: change } });
  const after = expectWritten(answer);
  const own = Object.entries((annotations(after) ?? {}) as JsonObject).filter(([key]) =>
    key.startsWith("example.com/"),
  );
  expectSame(answer.request, "metadata.annotations", {
    expected: { "example.com/a": "new", "example.com/c": "3", "example.com/d": "4" },
    actual: Object.fromEntries(own),
  });
  expectSame(answer.request, "the object from get: ", { expected: await writes.now(before), actual: after });
}

async function jsonPatches(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make({ annotations: { "example.com/a": "1" } });
  const path = writes.pathOf(before);
  const send = (body: unknown): WriteRequest => ({ method: "PATCH", path, type: JSON_PATCH, body });
  const a = "/metadata/annotations/example.com~1a";
  const done = await writes.send(
    send([
      { op: "test", path: a, value: "1" },
      { op: "replace", path: a, value: "2" },
    ]),
  );
  const after = expectWritten(done);
  expectSame(done.request, "the annotation", { expected: "2", actual: at(annotations(after), "example.com/a") });
  const failed = await writes.send(
    send([
      { op: "replace", path: a, value: "3" },
      { op: "test", path: a, value: "1" },
    ]),
  );
  expectStatus(failed, { codes: [422], reasons: ["Invalid"] });
  await writes.expectUnchanged(after, failed);
}

async function patchLocks(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const before = await writes.make();
  const after = await writes.change(before, { annotations: { "example.com/a": "1" } });
  const locks = [{ resourceVersion: versionOf(before) }, { uid: "00000000-0000-4000-8000-000000000000" }];
  for (const lock of locks) {
    const answer = await writes.patch(before, { metadata: { ...lock, annotations: { "example.com/a": "2" } } });
    // Custom resources answer that the uid is immutable.
    expectStatus(answer, lock.uid === undefined ? CONFLICT : { codes: [409, 422], reasons: ["Conflict", "Invalid"] });
    await writes.expectUnchanged(after, answer);
  }
  const absent = await writes.draft();
  const answer = await writes.patch(absent, { metadata: { annotations: { "example.com/a": "2" } } });
  expectStatus(answer, { codes: [404], reasons: ["NotFound"] });
}
