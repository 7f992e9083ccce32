import { expectCode, expectSame, expectStatus, fail } from "../assertions/expect.ts";
import { at, show, textAt } from "../assertions/json.ts";
import { versionOf } from "../assertions/objects.ts";
import type { Answer } from "../http/answer.ts";
import { expectWritten, messageOf, type WriteRequest } from "../writing/writer.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "get", "delete"] as const;
const writes = true;
const BAD_REQUEST = { codes: [400], reasons: ["BadRequest"] };
/** Kubernetes' limit on a request body, in bytes. */
const MAX_BODY = 3 * 2 ** 20;

/** V, continued: bodies and options of writes. */
export const bodyChecks: readonly ResourceCheck[] = [
  {
    id: "V17",
    title: "a body that is not JSON, or has another kind or version, is rejected",
    protects: "objects of another kind are stored where no client can read them",
    scope,
    verbs,
    writes,
    run: unreadable,
  },
  {
    id: "V18",
    title: "an unsupported media type of a body gets 415",
    protects: "the server misreads the bytes of a client",
    scope,
    verbs: [...verbs, "patch"],
    writes,
    run: mediaTypes,
  },
  {
    id: "V19",
    title: "a body above 3 MiB gets 413",
    protects: "one client's object is too large for the watches of all others",
    scope,
    verbs,
    writes,
    run: tooLarge,
  },
  {
    id: "V20",
    title: "a dry run answers like the write, changes nothing and sends no event",
    protects: "kubectl diff changes the object that it shows",
    scope,
    verbs: [...verbs, "patch", "update", "watch"],
    writes,
    run: dryRun,
  },
  {
    id: "V21",
    title: "fieldValidation: unknown and duplicate fields are rejected, warned about or ignored",
    protects: "kubectl apply silently accepts a misspelled field",
    scope,
    verbs,
    writes,
    run: fieldValidation,
  },
  {
    id: "V22",
    title: "unknown options of writes are rejected",
    protects: "a misspelled dry run changes objects",
    scope,
    verbs,
    writes,
    run: unknownOptions,
  },
];

async function unreadable(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft();
  const bodies: readonly (Pick<WriteRequest, "raw"> | Pick<WriteRequest, "body">)[] = [
    { raw: "{" },
    { raw: "" },
    { body: [] },
    { body: { ...draft, kind: "Nothing" } },
    { body: { ...draft, apiVersion: "nothing.example.com/v1" } },
    { body: { ...draft, metadata: "none" } },
  ];
  for (const body of bodies) {
    const answer = await writes.send({ method: "POST", path: writes.writer.path, ...body });
    // Custom resources answer 422 to another kind.
    expectStatus(answer, { codes: [400, 422], reasons: ["BadRequest", "Invalid"] });
  }
  await writes.expectGone(draft);
}

async function mediaTypes(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const object = await writes.make();
  const draft = await writes.draft();
  const path = writes.pathOf(object);
  const refused: readonly WriteRequest[] = [
    { method: "POST", path: writes.writer.path, type: "application/x-nobody-knows", body: draft },
    { method: "PATCH", path, type: "application/json", body: { metadata: { labels: { a: "b" } } } },
    { method: "PATCH", path, type: "application/x-nobody-knows", body: {} },
  ];
  for (const sent of refused)
    expectStatus(await writes.send(sent), { codes: [415], reasons: ["UnsupportedMediaType"] });
  await writes.expectGone(draft);
}

async function tooLarge(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const draft = await writes.draft();
  const raw = JSON.stringify(draft).padEnd(MAX_BODY + 1_024, " ");
  const answer = await writes.send({ method: "POST", path: writes.writer.path, raw });
  expectStatus(answer, { codes: [413], reasons: ["RequestEntityTooLarge"] });
  await writes.expectGone(draft);
}

async function dryRun(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const query = { dryRun: "All" };
  const object = await writes.make();
  using stream = await writes.watch(versionOf(object));
  const annotations = { "example.com/note": "dry" };
  const draft = await writes.draft({ annotations });
  const metadata = { ...(object["metadata"] as object), annotations };
  const answers: readonly Answer[] = [
    await writes.post(draft, query),
    await writes.put({ ...object, metadata }, query),
    await writes.patch(object, { metadata: { annotations } }, query),
  ];
  for (const answer of answers) {
    const shown = expectWritten(answer, answer.request.method === "POST" ? [201] : [200]);
    const note = at(shown, "metadata", "annotations", "example.com/note");
    expectSame(answer.request, "the annotation in the answer to the dry run", { expected: "dry", actual: note });
  }
  const deleted = await writes.delete(object, { query });
  expectCode(deleted, [200, 202]);
  await writes.expectGone(draft);
  await writes.expectUnchanged(object, deleted);
  await writes.change(object, { annotations: { "example.com/note": "done" } });
  const { seen } = await writes.told(stream, { type: "MODIFIED", object });
  const told = seen.map(
    ({ type, object }) => `${type} ${textAt(object, "metadata", "annotations", "example.com/note")}`,
  );
  expectSame(stream.request, "only events of the write", { expected: ["MODIFIED done"], actual: told });
}

/** Uses metadata, which has the same schema for every kind, so that a field unknown there is unknown everywhere. */
async function fieldValidation(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const send = async (fieldValidation: string | undefined): Promise<Answer> => {
    const draft = await writes.draft();
    const text = JSON.stringify({ ...draft, metadata: { ...draft.metadata, conformanceUnknown: 1 } });
    const raw = text.replace("{", `{"kind":${JSON.stringify(draft.kind)},`);
    return writes.send({ method: "POST", path: writes.writer.path, raw, query: { fieldValidation } });
  };
  const strict = await send("Strict");
  expectStatus(strict, BAD_REQUEST);
  for (const word of ["conformanceUnknown", "kind"]) {
    if (!messageOf(strict).includes(word)) fail(strict.request, `a message that names ${word}`, messageOf(strict));
  }
  for (const level of ["Warn", undefined]) {
    const answer = await send(level);
    expectWritten(answer, [201]);
    const warnings = String(answer.headers["warning"] ?? "");
    for (const word of ["299", "conformanceUnknown", "kind"]) {
      if (!warnings.includes(word)) fail(answer.request, `a Warning header that contains ${word}`, show(warnings));
    }
  }
  const ignored = await send("Ignore");
  const kept = expectWritten(ignored, [201]);
  const warning = ignored.headers["warning"];
  if (warning !== undefined) fail(ignored.request, "no Warning header", String(warning));
  if (at(kept, "metadata", "conformanceUnknown") !== undefined)
    fail(ignored.request, "metadata without the unknown field", show(at(kept, "metadata")));
}

async function unknownOptions(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  for (const query of [{ dryRun: "Some" }, { fieldValidation: "Perhaps" }, { fieldManager: "a".repeat(129) }]) {
    const draft = await writes.draft();
    const answer = await writes.post(draft, query);
    expectStatus(answer, { codes: [400, 422], reasons: ["BadRequest", "Invalid"] });
    await writes.expectGone(draft);
  }
}
