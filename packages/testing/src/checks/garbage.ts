import { setTimeout as delay } from "node:timers/promises";
import { excerpt, expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, type JsonObject, listAt, show, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import { RunNamespace } from "../writing/run-namespace.ts";
import { expectWritten } from "../writing/writer.ts";
import { FINALIZER, Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const common = { scope: "resource", verbs: ["create", "get", "delete", "patch"], writes: true } as const;

/** T10, continued: what goes with owners and namespaces, where the server sees to that. */
export const garbageChecks: readonly ResourceCheck[] = [
  {
    ...common,
    id: "T10.9",
    title: "what an object deleted in the background owned goes, but for what another owner keeps",
    protects: "what controllers make for an object stays for ever, or goes while it is needed",
    run: collecting(background),
  },
  {
    ...common,
    id: "T10.10",
    title: "an object deleted in the foreground stays, marked, until what it owns and what blocks it is gone",
    protects: "kubectl delete --cascade=foreground returns while things are still there",
    run: collecting(foreground),
  },
  {
    ...common,
    id: "T10.11",
    title: "what an object deleted with orphans owned stays, and names it no more",
    protects: "kubectl delete --cascade=orphan deletes what was to stay",
    run: collecting(orphan),
  },
  {
    ...common,
    id: "T10.12",
    title: "an object whose owner does not exist goes",
    protects: "what was made a moment after its owner had gone stays for ever",
    run: collecting(absent),
  },
  {
    ...common,
    id: "T10.13",
    title: "an owner of the right name with another uid is another, and holds nothing",
    protects: "objects are taken over by whatever gets the name of their owner",
    run: collecting(replaced),
  },
  {
    ...common,
    id: "T10.14",
    title: "an owner in another namespace is none",
    protects: "whoever may write in one namespace keeps, or deletes, what is in another",
    run: collecting(elsewhere),
  },
  {
    ...common,
    id: "T10.15",
    title:
      "a deleted namespace is Terminating while something in it is held, takes nothing new, and goes with all that is in it",
    protects: "objects are left in no namespace, or come into one that is going",
    run: collecting(namespaceGoes),
  },
];

const ABSENT = "00000000-0000-4000-8000-00000000000a";
const ANOTHER = "00000000-0000-4000-8000-00000000000b";

function collecting(run: (writes: Writes) => Promise<void>): (probe: ResourceProbe) => Promise<void> {
  return async (probe) => {
    await using writes = new Writes(probe);
    if (!writes.writer.collects) skip("nobody says that what is owned, or in a namespace, goes by itself here");
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
    fail(answer.request, "the owner, marked, with the finalizer foregroundDeletion", show(at(waiting, "metadata")));
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
    await until(writes, placeOf(free), { what: "404 for what nothing holds", is: isGone });
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
    await until(writes, placeOf(held), { what: "404 for what was in it", is: isGone });
  });
}

/** With a namespace of its own, which is gone then. */
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

function goes(writes: Writes, object: JsonObject, what = "404 for what is to go by itself"): Promise<void> {
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

/** Looks again until it is as it must be: collectors take their time. */
async function until(writes: Writes, path: string, { what, is }: Awaited<Answer>): Promise<void> {
  const deadline = performance.now() + writes.probe.deadlines.answer;
  for (;;) {
    const answer = await writes.probe.get(path);
    if (is(answer)) return;
    if (performance.now() > deadline) fail(answer.request, what, excerpt(answer));
    await delay(50);
  }
}
