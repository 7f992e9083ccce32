import { expectSame, expectStatus, fail } from "../assertions/expect.ts";
import { at, listAt, show, textAt } from "../assertions/json.ts";
import { expectWritten } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "get", "delete"] as const;
const writes = true;
const FOREIGN_UID = "00000000-0000-4000-8000-000000000000";

/** V: verbs that write. This file has create. */
export const createChecks: readonly ResourceCheck[] = [
  {
    id: "V1",
    title: "create gets 201 with the object, its uid, version and time, and get returns the same object",
    protects: "clients continue with an object that differs from the stored one",
    scope,
    verbs,
    writes,
    run: creates,
  },
  {
    id: "V2",
    title: "a second create of the same name gets 409 AlreadyExists, which names the object",
    protects: "controllers that create missing objects overwrite existing ones or fail for good",
    scope,
    verbs,
    writes,
    run: createsOnce,
  },
  {
    id: "V3",
    title: "generateName produces different names that begin with it",
    protects: "jobs and events get no name, or the same name",
    scope,
    verbs,
    writes,
    run: generatesNames,
  },
  {
    id: "V4",
    title: "only the server sets uid, creationTimestamp and deletionTimestamp",
    protects: "a client forges the identity of another object, or creates an object that is already being deleted",
    scope,
    verbs,
    writes,
    run: keepsSystemFields,
  },
  {
    id: "V5",
    title: "an object with malformed metadata gets 422 Invalid with a cause that names the field",
    protects: "objects exist that no selector and no URL can name",
    scope,
    verbs,
    writes,
    run: refusesMetadata,
  },
];

async function creates(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft({ annotations: { "example.com/note": "kept" } });
  const answer = await writes.post(draft);
  const created = expectWritten(answer, [201]);
  for (const field of ["uid", "resourceVersion", "creationTimestamp"]) {
    if (textAt(created, "metadata", field) === "")
      fail(answer.request, `metadata.${field}`, show(at(created, "metadata")));
  }
  for (const field of ["name", "namespace"]) {
    const pair = { expected: draft.metadata[field], actual: at(created, "metadata", field) };
    expectSame(answer.request, `metadata.${field}`, pair);
  }
  for (const field of ["labels", "annotations"]) {
    const actual = Object.fromEntries(
      Object.keys(draft.metadata[field] as object).map((key) => [key, at(created, "metadata", field, key)]),
    );
    expectSame(answer.request, `metadata.${field}`, { expected: draft.metadata[field], actual });
  }
  expectSame(answer.request, "the object from get: ", { expected: await writes.now(draft), actual: created });
}

async function createsOnce(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const first = await writes.make();
  const draft = await writes.draft();
  const again = await writes.post({ ...draft, metadata: { ...draft.metadata, name: at(first, "metadata", "name") } });
  const status = expectStatus(again, { codes: [409], reasons: ["AlreadyExists"] });
  expectSame(again.request, "details.name", {
    expected: at(first, "metadata", "name"),
    actual: at(status, "details", "name"),
  });
  await writes.expectUnchanged(first, again);
}

async function generatesNames(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const names = new Set<string>();
  for (let count = 0; count < 3; count++) {
    const { metadata, ...draft } = await writes.draft();
    const { name, ...rest } = metadata;
    const answer = await writes.post({ ...draft, metadata: { ...rest, generateName: `${name}-` } });
    const made = textAt(expectWritten(answer, [201]), "metadata", "name");
    writes.remember(made);
    if (!made.startsWith(`${name}-`) || made.length <= name.length + 1)
      fail(answer.request, `a name that starts with ${name}-`, show(made));
    names.add(made.slice(name.length));
    if (names.size !== count + 1) fail(answer.request, "a different suffix each time", [...names].join(", "));
  }
}

async function keepsSystemFields(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft();
  const claimed = {
    uid: FOREIGN_UID,
    creationTimestamp: "2001-01-01T00:00:00Z",
    deletionTimestamp: "2001-01-01T00:00:00Z",
    generation: 4711,
  };
  const answer = await writes.post({ ...draft, metadata: { ...draft.metadata, ...claimed } });
  const created = expectWritten(answer, [201]);
  for (const [field, value] of Object.entries(claimed)) {
    if (at(created, "metadata", field) === value) fail(answer.request, `a different metadata.${field}`, show(value));
  }
}

/** Sends metadata that Kubernetes rejects for every kind. The name must be invalid under the rules of all kinds. */
async function refusesMetadata(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const malformed = [
    { field: "metadata.name", change: { name: "no/slash" } },
    { field: "metadata.labels", change: { labels: { good: "not a value" } } },
    { field: "metadata.annotations", change: { annotations: { "not a key": "" } } },
    { field: "metadata.name", change: { name: undefined } },
  ];
  for (const { field, change } of malformed) {
    const draft = await writes.draft();
    const labels = { ...draft.metadata.labels, ...change.labels };
    const answer = await writes.post({ ...draft, metadata: { ...draft.metadata, ...change, labels } });
    const status = expectStatus(answer, { codes: [422], reasons: ["Invalid"] });
    const fields = listAt(status, "details", "causes").map((cause) => textAt(cause, "field"));
    if (!fields.includes(field)) fail(answer.request, `a cause about ${field}`, show(at(status, "details")));
  }
}
