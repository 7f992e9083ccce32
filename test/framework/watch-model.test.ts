// Lists and watches always agree. The author and clients make random changes at once: to the source, to writable views of it,
// and in another version. Clients watch with random selectors, disconnect, and resume from random versions that they have
// seen. The state that a client has assembled must equal a list at that version.
import {
  allow,
  type Collection,
  converted,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { expect } from "chai";
import fc from "fast-check";
import { MERGE } from "../_support/patches.ts";
import { type PlainServer, startPlain, type WatchEvent } from "../_support/plain.ts";

const kind = {
  group: "test.dev",
  kind: "Thing",
  scope: "Namespaced",
  spec: { type: "object", required: ["on", "n"], properties: { on: { type: "boolean" }, n: { type: "integer" } } },
  selectableFields: [".spec.n"],
} as const;
const Thing = defineResource({ ...kind, version: "v1" });
/** The same kind, with `n` negated. */
const Old = defineResource({ ...kind, version: "v1alpha1" });
type Things = Collection<{ spec: { on: boolean; n: number } }>;

/** Stores of the objects. */
const KEPT: Readonly<Record<string, () => Things>> = {
  "a collection": () => Thing.collection(),
  // The test only awaits the author's calls here.
  "a store": () => Thing.collection(persistent(memoryStore(), { progressEvery: 1 })) as unknown as Things,
};

/** Places that clients read: everything, a namespace, a label, a field, a view, a view with a label. */
const PLACES = [
  "/services/all/clusters/c1/apis/test.dev/v1/things?",
  "/services/all/clusters/*/apis/test.dev/v1/things?",
  "/services/all/clusters/c1/apis/test.dev/v1/namespaces/ns1/things?",
  "/services/all/clusters/c1/apis/test.dev/v1/things?labelSelector=l+in+(x,y)&",
  "/services/all/clusters/c2/apis/test.dev/v1/things?fieldSelector=spec.n%3D1&",
  "/services/on/clusters/c1/apis/test.dev/v1/things?",
  "/services/on/clusters/*/apis/test.dev/v1/things?labelSelector=l%3Dx&",
  "/services/negated/clusters/c1/apis/test.dev/v1/things?",
  "/services/negated/clusters/*/apis/test.dev/v1/things?fieldSelector=spec.n%3D-1&",
  "/services/all/clusters/c1/apis/test.dev/v1alpha1/things?",
  "/services/all/clusters/*/apis/test.dev/v1alpha1/things?fieldSelector=spec.n%3D-1&labelSelector=l%3Dx&",
] as const;

/** Resources through which clients write. */
const WAYS = ["all v1", "on v1", "negated v1", "all v1alpha1"] as const;

const change = fc.record({
  by: fc.constantFrom("author", ...WAYS),
  cluster: fc.constantFrom("c1", "c2"),
  namespace: fc.constantFrom("ns1", "ns2"),
  name: fc.constantFrom("a", "b", "c"),
  label: fc.constantFrom("x", "y", "z", undefined),
  on: fc.boolean(),
  n: fc.nat(2),
  gone: fc.nat(3).map((dice) => dice === 0),
});

type Step = typeof change extends fc.Arbitrary<infer C> ? C : never;

function views(things: Things): VirtualWorkspace[] {
  const turned = <S extends { on: boolean; n: number }>({ spec }: { spec: S }) => ({ spec: { ...spec, n: -spec.n } });
  const on = view({ from: things, select: ({ spec }) => spec.on, mapToSource: (object) => object });
  const negated = view({
    from: on,
    select: ({ spec }) => spec.n !== 2,
    map: turned,
    mapToSource: turned,
    allowLeavingView: true,
  });
  const old = converted({ from: things, to: Old, read: turned, write: turned });
  const served: Record<string, ServedResource[]> = {
    all: [Thing.serve(things), Old.serve(old)],
    on: [Thing.serve(on)],
    negated: [Thing.serve(negated)],
  };
  return Object.entries(served).map(([name, resources]) =>
    defineVirtualWorkspace({
      name,
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources,
    }),
  );
}

/** Writes as a client: the response must be one of few, and the client can read what it has written. */
async function write(server: PlainServer, { by, cluster, namespace, name, label, on, n, gone }: Step): Promise<void> {
  const [service, version] = by.split(" ");
  const list =
    `/services/${service}/clusters/${cluster}/apis/test.dev/${version}/namespaces/${namespace}/things` as const;
  const path = `${list}/${name}` as const;
  if (gone) {
    expect((await server.send(`DELETE ${path}`)).status).to.be.oneOf([200, 404]);
    return;
  }
  const labels = { l: label ?? null };
  let answer = await server.send(`PATCH ${path}`, { metadata: { labels }, spec: { on, n } }, MERGE);
  expect(answer.status).to.be.oneOf([200, 403, 404]);
  if (answer.status === 404) {
    const metadata = { name, ...(label === undefined ? {} : { labels }) };
    const body = { apiVersion: `test.dev/${version}`, kind: "Thing", metadata, spec: { on, n } };
    answer = await server.send(`POST ${list}`, body);
    expect(answer.status).to.be.oneOf([201, 403, 409]);
  }
  if (answer.status >= 300) return;
  expect(answer.body.spec).to.deep.equal({ on, n });
  expect(on || service === "all", "nothing leaves a view that does not allow it").to.equal(true);
  const now = await server.get(path);
  expect(now.status).to.be.oneOf([200, 404]);
  if (now.status === 404 || now.body.metadata.uid !== answer.body.metadata.uid) return;
  expect(BigInt(now.body.metadata.resourceVersion) >= BigInt(answer.body.metadata.resourceVersion)).to.equal(true);
}

async function apply(server: PlainServer, things: Things, step: Step): Promise<void> {
  const { by, cluster, namespace, name, label, on, n, gone } = step;
  if (by !== "author") return write(server, step);
  const part = things.in(cluster, namespace);
  if (gone) await part.delete(name);
  else await part.set(name, { on, n }, { labels: label === undefined ? {} : { l: label } });
}

type State = Map<string, unknown>;
type Item = WatchEvent["object"];

const keyOf = ({ metadata }: Item): string =>
  [metadata.annotations?.["kcp.io/cluster"], metadata.namespace, metadata.name].join("/");

/** Applies an event, and checks that it is valid in this state. */
function step(state: State, { type, object }: WatchEvent): void {
  const key = keyOf(object);
  expect(type).to.be.oneOf(["ADDED", "MODIFIED", "DELETED"]);
  expect(state.has(key), `${type} ${key}`).to.equal(type !== "ADDED");
  if (type === "DELETED") state.delete(key);
  else state.set(key, object);
}

async function list(server: PlainServer, place: string): Promise<{ state: State; version: string }> {
  const { body } = await server.get(place);
  return {
    state: new Map(body.items.map((item: Item) => [keyOf(item), item])),
    version: body.metadata.resourceVersion,
  };
}

/** Follows from a list to the present, which a bookmark at the end of the stream marks. */
async function follow(
  server: PlainServer,
  place: string,
  from: { state: State; version: string },
): Promise<{ state: State; version: string }> {
  const now = await list(server, place);
  const state = new Map(from.state);
  await using watch = await server.watch(`${place}watch=true&allowWatchBookmarks=true&resourceVersion=${from.version}`);
  await watch.until((event) => {
    if (event.type === "BOOKMARK") return event.object.metadata.resourceVersion === now.version;
    step(state, event);
    return false;
  });
  expect(Object.fromEntries(state)).to.deep.equal(Object.fromEntries(now.state));
  return { state, version: now.version };
}

describe("lists and watches", () => {
  for (const [where, keep] of Object.entries(KEPT)) {
    it(`agree for every selection, from every version, of ${where}`, async () => {
      const rounds = fc.array(fc.array(change, { maxLength: 8 }), { minLength: 1, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(rounds, fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), async (script, dice) => {
          const things = keep();
          await using server = await startPlain(views(things), { bookmarkEvery: 2 });
          const known = await Promise.all(PLACES.map(async (place) => [await list(server, place)]));
          for (const [round, changes] of script.entries()) {
            await Promise.all(changes.map((one) => apply(server, things, one)));
            await Promise.all(
              PLACES.map(async (place, at) => {
                const past = known[at] ?? [];
                const from = past[(dice[round] ?? 0) % past.length];
                if (from !== undefined) past.push(await follow(server, place, from));
              }),
            );
          }
        }),
        { numRuns: 40 },
      );
    }).timeout(60_000);
  }
});
