import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions, isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { expectOk, expectSame, fail } from "../assertions/expect.ts";
import { show, textAt } from "../assertions/json.ts";
import { keyOf, readEvents, versionOf, versionsByKey } from "../assertions/objects.ts";
import type { RequestLine } from "../http/answer.ts";
import type { WatchLine } from "../http/watch-stream.ts";
import type { ObjectName } from "../probe/options.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import { Changes } from "./check.ts";

const scope = "resource";

/** T4: versions form one sequence of increasing integers (KEP-5504). */
export const orderChecks: readonly ResourceCheck[] = [
  {
    id: "T4.1",
    title: "versions are integers, and no object is newer than its list",
    protects: "clients of Kubernetes 1.35 compare versions as integers, and reject others",
    scope,
    verbs: ["list", "watch"],
    run: integers,
  },
  {
    id: "T4.2",
    title: "equal lists have equal versions, and versions never decrease",
    protects: "clients cannot resume from a version that names no state",
    scope,
    verbs: ["list", "watch"],
    run: equalLists,
  },
  {
    id: "T4.3",
    title: "get and list return the same object",
    protects: "updates conflict although no other client wrote",
    scope,
    verbs: ["list", "get"],
    run: getAgrees,
  },
  {
    id: "T4.4",
    title: "each change of an object gets one event, in order, with a greater version",
    protects: "clients drop an update because they have already seen its version",
    scope,
    verbs: ["list", "watch", "get"],
    mutates: true,
    run: changesInOrder,
  },
  {
    id: "T4.5",
    title: "a watch resumed from an event's version continues right after it",
    protects: "each reconnect loses or repeats an event",
    scope,
    verbs: ["list", "watch"],
    mutates: true,
    run: resumesFromEvent,
  },
];

async function integers(probe: ResourceProbe): Promise<void> {
  const { answer, resourceVersion, items } = await probe.list();
  expectInteger(answer.request, "metadata.resourceVersion", resourceVersion);
  for (const item of items) {
    const version = versionOf(item);
    expectInteger(answer.request, `version of ${keyOf(item)}`, version);
    if (compareResourceVersions(version, resourceVersion) > 0)
      fail(answer.request, `${keyOf(item)} with at most the list's version ${resourceVersion}`, version);
  }
}

function expectInteger(request: RequestLine, what: string, version: string): void {
  if (!isResourceVersion(version)) fail(request, `${what} to be a positive integer`, show(version));
}

/** Requests lists in a row. Writes elsewhere may raise the version, but reads must not. */
async function equalLists(probe: ResourceProbe): Promise<void> {
  let before = await probe.list();
  let same = false;
  for (let pair = 0; pair < 5; pair++) {
    const list = await probe.list();
    if (compareResourceVersions(list.resourceVersion, before.resourceVersion) < 0)
      fail(list.answer.request, `a version of at least ${before.resourceVersion}`, show(list.resourceVersion));
    const moved = JSON.stringify(versionsByKey(list.items)) !== JSON.stringify(versionsByKey(before.items));
    same ||= moved || list.resourceVersion === before.resourceVersion;
    before = list;
  }
  if (!same)
    fail(
      before.answer.request,
      "the same version for the same objects in one of five attempts",
      "a different one each time",
    );
}

async function getAgrees(probe: ResourceProbe): Promise<void> {
  await probe.listOf(1);
  await probe.undisturbed(async () => {
    const { first } = await probe.listOf(1);
    const { namespace = "", name = "" } = first.metadata;
    const answer = await probe.get(probe.pathOf({ namespace, name }));
    expectSame(answer.request, "the object of the list: ", {
      expected: untyped(first),
      actual: untyped(expectOk(answer)),
    });
  });
}

/** Items in lists of built-in kinds do not repeat their type. */
function untyped(object: object): object {
  const { apiVersion: _version, kind: _kind, ...rest } = object as Partial<KubeObject>;
  return rest;
}

async function changesInOrder(probe: ResourceProbe): Promise<void> {
  await using changes = new Changes(probe);
  const { resourceVersion } = await probe.list();
  using stream = await probe.watchAll({ resourceVersion, timeoutSeconds: 60 });
  const name = await changes.create();
  const created = expectOk(await probe.get(probe.pathOf(name)));
  await changes.update(name);
  await changes.update(name);
  await changes.delete(name);
  const { seen } = await readEvents(stream, { within: probe.deadlines.prompt, done: isDeletionOf(name) });
  const events = seen.filter(({ type, object }) => type !== "BOOKMARK" && isOf(name, object));
  expectSame(stream.request, "events of the object", {
    expected: ["ADDED", "MODIFIED", "MODIFIED", "DELETED"],
    actual: events.map(({ type }) => type),
  });
  expectIncreasing(stream.request, resourceVersion, seen);
  expectSame(stream.request, "version of the ADDED object", {
    expected: versionOf(created),
    actual: versionOf(events[0]?.object),
  });
  expectSame(stream.request, "uid of the DELETED object", {
    expected: textAt(created, "metadata", "uid"),
    actual: textAt(events[3]?.object, "metadata", "uid"),
  });
  const after = await probe.list();
  const last = versionOf(events[3]?.object);
  if (compareResourceVersions(after.resourceVersion, last) < 0)
    fail(after.answer.request, `a list at ${last} or later, after the deletion`, after.resourceVersion);
}

function expectIncreasing(request: RequestLine, from: string, events: readonly WatchLine[]): void {
  let before = from;
  for (const { type, object } of events) {
    const version = versionOf(object);
    const order = compareResourceVersions(version, before);
    if (order < 0 || (order === 0 && type !== "BOOKMARK"))
      fail(request, `versions above ${before}`, `${type} at ${show(version)}`);
    before = version;
  }
}

async function resumesFromEvent(probe: ResourceProbe): Promise<void> {
  await using changes = new Changes(probe);
  const name = await changes.create();
  const { answer, items } = await probe.list();
  const created = items.find((item) => isOf(name, item));
  if (created === undefined) fail(answer.request, `${name.name} in the list`, "not there");
  await changes.update(name);
  await changes.delete(name);
  using stream = await probe.watchAll({ resourceVersion: versionOf(created), timeoutSeconds: 60 });
  const { seen } = await readEvents(stream, { within: probe.deadlines.prompt, done: isDeletionOf(name) });
  expectSame(stream.request, `events of the object after ${versionOf(created)}`, {
    expected: ["MODIFIED", "DELETED"],
    actual: seen.filter(({ object }) => isOf(name, object)).map(({ type }) => type),
  });
  expectIncreasing(stream.request, versionOf(created), seen);
}

function isOf({ namespace, name }: ObjectName, object: unknown): boolean {
  return textAt(object, "metadata", "name") === name && textAt(object, "metadata", "namespace") === namespace;
}

function isDeletionOf(name: ObjectName): (event: WatchLine) => boolean {
  return ({ type, object }) => type === "DELETED" && isOf(name, object);
}
