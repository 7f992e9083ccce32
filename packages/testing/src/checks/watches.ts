import { expectSame, fail, skip } from "../assertions/expect.ts";
import { eventCounts, type List, plainKeyOf, readEvents, readList, versionsByKey } from "../assertions/objects.ts";
import { mediaType } from "../http/answer.ts";
import type { Query } from "../http/client.ts";
import type { WatchLine } from "../http/watch-stream.ts";
import { SELECTS_NOTHING } from "../probe/collection-probe.ts";
import type { ResourceCheck } from "./check.ts";
import { Changes, type ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["list", "watch"] as const;

/** W: watches of any client. */
export const watchChecks: readonly ResourceCheck[] = [
  {
    id: "W1",
    title: "headers of a watch are sent immediately, before the first event",
    protects: "Go's Watch() blocks until the first event, and cannot be stopped",
    scope,
    verbs,
    run: headersAtOnce,
  },
  {
    id: "W2",
    title: "timeoutSeconds ends a watch properly and without ERROR",
    protects: "clients treat every end as a failure, and back off",
    scope,
    verbs,
    run: endsInTime,
  },
  {
    id: "W3",
    title: "a watch with a label selector has the same objects as a list with it",
    protects: "controllers see objects that do not belong to them, or miss their own",
    scope,
    verbs,
    run: labelSelectors,
  },
  {
    id: "W4",
    title: "a watch with a field selector has the same objects as a list with it",
    protects: "kubectl wait and single-object informers see the wrong object",
    scope,
    verbs,
    run: async (probe) => {
      const { name } = (await probe.listOf(1)).first.metadata;
      await watchAgrees(probe, { query: { fieldSelector: `metadata.name=${name}` } });
      await probe.undisturbed(async () => {
        const { items } = await probe.list();
        const others = await probe.list({ fieldSelector: `metadata.name!=${name}` });
        expectSame(others.answer.request, "objects with another name", {
          expected: versionsByKey(items.filter(({ metadata }) => metadata.name !== name)),
          actual: versionsByKey(others.items),
        });
      });
    },
  },
  {
    id: "W5",
    title: "list and watch of a namespace have only the objects of that namespace",
    protects: "tenants see each other's objects",
    scope,
    verbs,
    run: oneNamespace,
  },
  {
    id: "W6",
    title: "a watch from a list's version sends each later change once",
    protects: "objects created between list and watch are lost",
    scope,
    verbs,
    mutates: true,
    run: afterTheList,
  },
  {
    id: "W7",
    title: "a watch is a stream of JSON without a length",
    protects: "proxies and clients wait for the end of an endless body",
    scope,
    verbs,
    run: async (probe) => {
      using stream = await probe.watchAll({ timeoutSeconds: 1 });
      if (mediaType(stream) !== "application/json") fail(stream.request, "application/json", mediaType(stream));
      const { "content-length": length } = stream.headers;
      if (length !== undefined) fail(stream.request, "no Content-Length", length);
    },
  },
];

async function headersAtOnce(probe: ResourceProbe): Promise<void> {
  const { resourceVersion } = await probe.list();
  const query = {
    labelSelector: SELECTS_NOTHING,
    resourceVersion,
    timeoutSeconds: Math.ceil((3 * probe.deadlines.prompt) / 1000),
  };
  using stream = await probe.watchAll(query);
  const { prompt } = probe.deadlines;
  if (stream.headersAfter > prompt)
    fail(stream.request, `headers within ${prompt} ms`, `after ${Math.round(stream.headersAfter)} ms`);
}

async function endsInTime(probe: ResourceProbe): Promise<void> {
  const { resourceVersion } = await probe.list();
  using stream = await probe.watchAll({ resourceVersion, timeoutSeconds: 1 });
  const { seen, end } = await readEvents(stream, { within: 2_000 + probe.deadlines.prompt });
  const took = Math.round(performance.now() - stream.sentAt);
  if (end !== "ended")
    fail(stream.request, "the end of the stream after 1 s", `${end} after ${took} ms, ${eventCounts(seen)}`);
  if (took < 500) fail(stream.request, "a stream for 1 s", `the end after ${took} ms`);
  if (seen.some(({ type }) => type === "ERROR")) fail(stream.request, "no ERROR", eventCounts(seen));
}

async function labelSelectors(probe: ResourceProbe): Promise<void> {
  const { items } = await probe.listOf(1);
  const labelled = items.find(({ metadata }) => Object.keys(metadata.labels ?? {}).length > 0);
  const [label] = Object.entries(labelled?.metadata.labels ?? {});
  if (label === undefined) skip("no object has a label");
  const [key, value] = label;
  const selectors = [`${key}=${value}`, `${key}!=${value}`, `!${key}`];
  await Promise.all(selectors.map((labelSelector) => watchAgrees(probe, { query: { labelSelector } })));
  await probe.undisturbed(async () => {
    const all = await probe.list();
    const selected = await probe.list({ labelSelector: `${key}=${value}` });
    const expected = all.items.filter(({ metadata }) => metadata.labels?.[key] === value);
    expectSame(selected.answer.request, "objects with the label", {
      expected: versionsByKey(expected),
      actual: versionsByKey(selected.items),
    });
  });
}

async function oneNamespace(probe: ResourceProbe): Promise<void> {
  if (!probe.resource.namespaced) skip("the resource is not namespaced");
  const { namespace = "" } = (await probe.listOf(1)).first.metadata;
  const path = probe.namespacePath(namespace);
  await watchAgrees(probe, { path });
  await probe.undisturbed(async () => {
    const { items } = await probe.list();
    const within = await listAt(probe, path);
    expectSame(within.answer.request, `objects of namespace ${namespace}`, {
      expected: versionsByKey(items.filter(({ metadata }) => metadata.namespace === namespace)),
      actual: versionsByKey(within.items),
    });
  });
}

interface Selected {
  /** Path of the watch. @default the whole collection */
  readonly path?: string;
  readonly query?: Query;
}

/** Expects a watch to have the objects of a list with the same query. */
export async function watchAgrees(probe: ResourceProbe, { path = probe.path, query = {} }: Selected): Promise<void> {
  await probe.undisturbed(async () => {
    const { items } = await listAt(probe, path, query);
    const { request, state } = await probe.firstSecond(query, { path });
    const pair = { expected: versionsByKey(items), actual: versionsByKey(state.values()) };
    expectSame(request, "objects of the list", pair);
  });
}

async function listAt(probe: ResourceProbe, path: string, query: Query = {}): Promise<List> {
  return readList(await probe.get(path, { query }));
}

async function afterTheList(probe: ResourceProbe): Promise<void> {
  await using changes = new Changes(probe);
  const before = await changes.create();
  const { resourceVersion } = await probe.list();
  const made = [await changes.create()];
  using stream = await probe.watchAll({ resourceVersion, timeoutSeconds: 60 });
  made.push(await changes.create());
  await changes.delete(before);
  // Other clients may write meanwhile; for example, the namespace of another check gets its ConfigMap.
  const gone = `DELETED ${before.namespace}/${before.name}`;
  const expected = [...made.map((name) => `ADDED ${name.namespace}/${name.name}`), gone];
  const names = new Set([before, ...made].map(({ namespace, name }) => `${namespace}/${name}`));
  const told = ({ type, object }: WatchLine): string => `${type} ${plainKeyOf(object)}`;
  const { seen } = await readEvents(stream, {
    within: probe.deadlines.prompt,
    done: (event) => told(event) === gone,
  });
  const actual = seen.filter(({ object }) => names.has(plainKeyOf(object))).map(told);
  expectSame(stream.request, `events after ${resourceVersion}`, { expected, actual });
}
