import { setTimeout as delay } from "node:timers/promises";
import { excerpt, expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, type JsonObject, listAt, show, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import { RunNamespace } from "../writing/run-namespace.ts";
import { expectWritten } from "../writing/writer.ts";
import { FINALIZER, Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const common = { scope: "resource", verbs: ["create", "get", "delete", "patch"], writes: true } as const;

/** T10, continued: deletion of dependents and of namespace contents, on servers that collect them. */
export const garbageChecks: readonly ResourceCheck[] = [
  {
    ...common,
    id: "T10.9",
    title: "background deletion removes dependents, except those that another owner keeps",
    protects: "objects that controllers create for an owner stay forever, or disappear while they are needed",
    run: collecting(background),
  },
  {
    ...common,
    id: "T10.10",
    title:
      "an object deleted in the foreground stays, with a deletionTimestamp, until its blocking dependents are gone",
    protects: "kubectl delete --cascade=foreground returns while dependents still exist",
    run: collecting(foreground),
  },
  {
    ...common,
    id: "T10.11",
    title: "orphan deletion keeps dependents and removes their owner references",
    protects: "kubectl delete --cascade=orphan deletes dependents",
    run: collecting(orphan),
  },
  {
    ...common,
    id: "T10.12",
    title: "an object whose owner does not exist is deleted",
    protects: "an object created just after the deletion of its owner stays forever",
    run: collecting(absent),
  },
  {
    ...common,
    id: "T10.13",
    title: "an owner reference with the right name and another uid keeps nothing alive",
    protects: "a new object with the name of a deleted owner takes over its dependents",
    run: collecting(replaced),
  },
  {
    ...common,
    id: "T10.14",
    title: "an owner in another namespace does not count",
    protects: "users who may write in one namespace keep or delete objects in another",
    run: collecting(elsewhere),
  },
  {
    ...common,
    id: "T10.15",
    title:
      "a deleted namespace is Terminating while a finalizer holds an object in it, rejects new objects, and is deleted with its contents",
    protects: "objects remain without a namespace, or are created in one that is being deleted",
    run: collecting(namespaceGoes),
  },
];

const ABSENT = "00000000-0000-4000-8000-00000000000a";
const ANOTHER = "00000000-0000-4000-8000-00000000000b";

function collecting(run: (writes: Writes) => Promise<void>): (probe: ResourceProbe) => Promise<void> {
  return async (probe) => {
    await using writes = new Writes(probe);
    if (!writes.writer.collects)
      skip("the run does not state that dependents and namespace contents are deleted here: use collects");
    await run(writes);
  };
}

async function background(writes: Writes): Promise<void> {
  const [owner, other] = [await writes.make(), await writes.make()];
  const owned = await makeOwned(writes, [refersTo(owner)]);
  const shared = await makeOwned(writes, [refersTo(owner), refersTo(other)]);
  expectWritten(await deleted(writes, owner, "Background"), [200, 202]);
  await goes(writes, owned);
  const isOfOne = (it: JsonObject): boolean => listAt(it, "metadata", "ownerReferences").length === 1;
  await becomes(writes, shared, { what: "with one owner", is: isOfOne });
}

async function foreground(writes: Writes): Promise<void> {
  const owner = await writes.make();
  const blocking = { ...refersTo(owner), blockOwnerDeletion: true };
  const held = await makeOwned(writes, [blocking], [FINALIZER]);
  const answer = await deleted(writes, owner, "Foreground");
  expectWritten(answer, [200, 202]);
  await becomes(writes, held, { what: "marked", is: isMarked });
  const waiting = await writes.now(owner);
  if (!isMarked(waiting) || !listAt(waiting, "metadata", "finalizers").includes("foregroundDeletion"))
    fail(
      answer.request,
      "the owner with a deletionTimestamp and the finalizer foregroundDeletion",
      show(at(waiting, "metadata")),
    );
  await writes.patch(held, { metadata: { finalizers: null } });
  await goes(writes, held);
  await goes(writes, owner);
}

async function orphan(writes: Writes): Promise<void> {
  const owner = await writes.make();
  const owned = await makeOwned(writes, [refersTo(owner)]);
  expectWritten(await deleted(writes, owner, "Orphan"), [200, 202]);
  await goes(writes, owner);
  const isFree = (it: JsonObject): boolean => listAt(it, "metadata", "ownerReferences").length === 0;
  await becomes(writes, owned, { what: "without owners", is: isFree });
  if (isMarked(await writes.now(owned))) await goes(writes, owned, "an orphan that stays");
}

async function absent(writes: Writes): Promise<void> {
  const owner = await writes.draft();
  await goes(writes, await makeOwned(writes, [refersTo({ ...owner, metadata: { ...owner.metadata, uid: ABSENT } })]));
}

async function replaced(writes: Writes): Promise<void> {
  const owner = await writes.make();
  await goes(writes, await makeOwned(writes, [{ ...refersTo(owner), uid: ANOTHER }]));
  await writes.now(owner);
}

async function elsewhere(writes: Writes): Promise<void> {
  const owner = await writes.make();
  await inNamespace(writes, async (namespace) => {
    const { metadata, ...draft } = await writes.draft();
    const own = { ...metadata, namespace: namespace.name, ownerReferences: [refersTo(owner)] };
    const path = namespace.objects;
    expectWritten(await writes.send({ method: "POST", path, body: { ...draft, metadata: own } }), [201]);
    await until(writes, `${path}/${metadata.name}`, { what: "404 for an object whose owner is elsewhere", is: isGone });
    await writes.now(owner);
  });
}

async function namespaceGoes(writes: Writes): Promise<void> {
  await inNamespace(writes, async (namespace) => {
    const post = async (finalizers: readonly string[]): Promise<Answer> => {
      const { metadata, ...draft } = await writes.draft({ finalizers });
      const body = { ...draft, metadata: { ...metadata, namespace: namespace.name } };
      return writes.send({ method: "POST", path: namespace.objects, body });
    };
    const held = expectWritten(await post([FINALIZER]), [201]);
    const free = expectWritten(await post([]), [201]);
    const placeOf = (object: unknown): string => `${namespace.objects}/${textAt(object, "metadata", "name")}`;
    expectWritten(await writes.send({ method: "DELETE", path: namespace.path }), [200, 202]);
    await until(writes, placeOf(free), { what: "404 for an object without finalizers", is: isGone });
    const isEnding = ({ status, body }: Answer): boolean =>
      status === 200 && textAt(JSON.parse(body.toString("utf8")), "status", "phase") === "Terminating";
    await until(writes, namespace.path, { what: "a namespace that is Terminating", is: isEnding });
    const late = await post([]);
    const refused = expectStatus(late, { codes: [403], reasons: ["Forbidden"] });
    const causes = listAt(refused, "details", "causes").map((cause) => textAt(cause, "reason"));
    expectSame(late.request, "the reasons of its causes", { expected: ["NamespaceTerminating"], actual: causes });
    const body = { metadata: { finalizers: null } };
    expectWritten(
      await writes.send({ method: "PATCH", path: placeOf(held), type: "application/merge-patch+json", body }),
    );
    await until(writes, namespace.path, { what: "404 for a namespace that is empty", is: isGone });
    await until(writes, placeOf(held), { what: "404 for the object that was in it", is: isGone });
  });
}

/** Runs `work` in a namespace of its own, and deletes the namespace afterwards. */
async function inNamespace(writes: Writes, work: (namespace: RunNamespace) => Promise<void>): Promise<void> {
  const namespace = await RunNamespace.make(writes.writer);
  try {
    await work(namespace);
  } finally {
    const { client, deadlines } = writes.probe;
    await namespace.remove(client, deadlines.answer).catch(() => false);
  }
}

function refersTo(object: JsonObject): JsonObject {
  const { apiVersion, kind } = object;
  return { apiVersion, kind, name: at(object, "metadata", "name"), uid: at(object, "metadata", "uid") };
}

async function makeOwned(
  writes: Writes,
  ownerReferences: readonly JsonObject[],
  finalizers?: readonly string[],
): Promise<JsonObject> {
  const { metadata, ...draft } = await writes.draft(finalizers && { finalizers });
  return expectWritten(await writes.post({ ...draft, metadata: { ...metadata, ownerReferences } }), [201]);
}

function deleted(writes: Writes, object: JsonObject, propagationPolicy: string): Promise<Answer> {
  return writes.delete(object, { options: { propagationPolicy } });
}

function goes(
  writes: Writes,
  object: JsonObject,
  what = "404 for an object that the server must delete",
): Promise<void> {
  return until(writes, writes.pathOf(object), { what, is: isGone });
}

interface Awaited<T> {
  readonly what: string;
  readonly is: (seen: T) => boolean;
}

function becomes(writes: Writes, object: JsonObject, { what, is }: Awaited<JsonObject>): Promise<void> {
  const looks = ({ status, body }: Answer): boolean => status === 200 && is(JSON.parse(body.toString("utf8")));
  return until(writes, writes.pathOf(object), { what: `the object ${what}`, is: looks });
}

const isGone = ({ status }: Answer): boolean => status === 404;
const isMarked = (object: JsonObject): boolean => textAt(object, "metadata", "deletionTimestamp") !== "";

/** Polls until the condition holds, because collectors take a while. */
async function until(writes: Writes, path: string, { what, is }: Awaited<Answer>): Promise<void> {
  const deadline = performance.now() + writes.probe.deadlines.answer;
  for (;;) {
    const answer = await writes.probe.get(path);
    if (is(answer)) return;
    if (performance.now() > deadline) fail(answer.request, what, excerpt(answer));
    await delay(50);
  }
}
