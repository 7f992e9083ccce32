import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import { expectSame, fail } from "../assertions/expect.ts";
import { show } from "../assertions/json.ts";
import {
  endsInitialEvents,
  eventCounts,
  keyOf,
  plainKeyOf,
  readEvents,
  versionOf,
  versionsByKey,
} from "../assertions/objects.ts";
import type { RequestLine } from "../http/answer.ts";
import type { WatchLine } from "../http/watch-stream.ts";
import { SELECTS_NOTHING, WATCH_LIST } from "../probe/collection-probe.ts";
import type { ResourceCheck } from "./check.ts";
import { Changes, type ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["list", "watch"] as const;

/** T1: the first request of client-go's informers since 1.35. */
export const watchListChecks: readonly ResourceCheck[] = [
  {
    id: "T1.1",
    title: "initial events end with a bookmark even when no object is selected",
    protects: "informers of an empty result wait forever without an error",
    scope,
    verbs,
    run: nothingSelected,
  },
  {
    id: "T1.2",
    title: "initial events equal the list, and end with a bookmark at its version",
    protects: "informers never sync, or start with objects missing",
    scope,
    verbs,
    run: initialEventsAreTheList,
  },
  {
    id: "T1.3",
    title: "an object created during the initial events gets exactly one event",
    protects: "objects created between list and watch are lost until their next change",
    scope,
    verbs,
    mutates: true,
    run: createdMeanwhile,
  },
  {
    id: "T1.4",
    title: "clients that did not request bookmarks get none",
    protects: "older clients mistake a bookmark for an object without a name",
    scope,
    verbs,
    run: noBookmarksUnasked,
  },
  {
    id: "T1.5",
    title: "sendInitialEvents=false sends no initial events",
    protects: "clients that already know the objects receive all of them as ADDED again",
    scope,
    verbs,
    run: noInitialEvents,
  },
  {
    id: "T1.6",
    title: "a watch continues from the bookmark that ended the initial events",
    protects: "every reconnect starts over with all objects",
    scope,
    verbs,
    run: resumesFromBookmark,
  },
];

async function nothingSelected(probe: ResourceProbe): Promise<void> {
  using initial = await probe.initialEvents({ labelSelector: SELECTS_NOTHING });
  expectSame(initial.stream.request, "events before the bookmark", {
    expected: [],
    actual: initial.events.slice(0, -1),
  });
  expectVersion(initial.stream.request, initial.version);
}

async function initialEventsAreTheList(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    using initial = await probe.initialEvents();
    const { request } = initial.stream;
    const list = await probe.list();
    expectSame(request, "objects in events", {
      expected: versionsByKey(list.items),
      actual: versionsByKey(initial.state.values()),
    });
    expectVersion(request, initial.version);
    const newer = list.items.find((item) => compareResourceVersions(versionOf(item), initial.version) > 0);
    if (newer !== undefined)
      fail(request, `a bookmark at or after ${versionOf(newer)}, the version of ${keyOf(newer)}`, initial.version);
    const twice = initial.events.filter(({ type }) => type === "ADDED").length - initial.state.size;
    if (twice > 0 && initial.events.every(({ type }) => type !== "DELETED"))
      fail(request, "each object ADDED once", `${twice} more`);
  });
}

async function createdMeanwhile(probe: ResourceProbe): Promise<void> {
  await using changes = new Changes(probe);
  const opening = probe.watchAll(WATCH_LIST);
  const made = [await changes.create()];
  using stream = await opening;
  made.push(await changes.create());
  const begun = await readEvents(stream, { within: probe.deadlines.prompt, done: endsInitialEvents });
  made.push(await changes.create());
  const wanted = new Set(made.map(({ namespace, name }) => `${namespace}/${name}`));
  const told = (events: readonly WatchLine[]): string[] => {
    const added = events.filter(({ type }) => type === "ADDED").map(({ object }) => plainKeyOf(object));
    return added.filter((key) => wanted.has(key));
  };
  const rest = await readEvents(stream, {
    within: probe.deadlines.prompt,
    done: (_, seen) => new Set(told([...begun.seen, ...seen])).size === wanted.size,
  });
  expectSame(stream.request, "objects created meanwhile, as ADDED", {
    expected: [...wanted].sort(),
    actual: told([...begun.seen, ...rest.seen]).sort(),
  });
}

async function noBookmarksUnasked(probe: ResourceProbe): Promise<void> {
  const { allowWatchBookmarks: _, ...initial } = WATCH_LIST;
  const queries = [{}, { ...initial, timeoutSeconds: 1 }];
  for (const { request, seen } of await Promise.all(queries.map((query) => probe.firstSecond(query)))) {
    const bookmark = seen.find(({ type }) => type === "BOOKMARK");
    if (bookmark !== undefined) fail(request, "no BOOKMARK", show(bookmark));
  }
}

async function noInitialEvents(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    const { request, seen } = await probe.firstSecond({
      sendInitialEvents: "false",
      resourceVersionMatch: "NotOlderThan",
    });
    expectNoObjects(request, seen);
  });
}

async function resumesFromBookmark(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    using initial = await probe.initialEvents();
    const { request, seen } = await probe.firstSecond({ resourceVersion: initial.version });
    const [first] = seen;
    if (first?.type === "ERROR") fail(request, "a watch that continues", `ERROR ${show(first.object)}`);
    expectNoObjects(request, seen);
  });
}

function expectNoObjects(request: RequestLine, seen: readonly WatchLine[]): void {
  const objects = seen.filter(({ type }) => type !== "BOOKMARK");
  if (objects.length > 0) fail(request, "no events, since nothing changed", eventCounts(objects));
}

function expectVersion(request: RequestLine, version: string): void {
  if (!/^[1-9]\d*$/.test(version)) fail(request, "a bookmark with a resource version", show(version));
}
