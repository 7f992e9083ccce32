// List and watch always agree: random changes, clients that watch with random selectors, leave and resume from random
// versions they have seen. What a client has pieced together must be what a list at that version says.
import { allow, type Collection, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import fc from "fast-check";
import { type PlainServer, startPlain, type WatchEvent } from "../_support/plain.ts";

const Thing = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: { type: "object", required: ["on", "n"], properties: { on: { type: "boolean" }, n: { type: "integer" } } },
  selectableFields: [".spec.n"],
});
type Things = Collection<{ spec: { on: boolean; n: number } }>;

/** Where clients look: everything, a namespace, a label, a field, a view, a view with a label. */
const PLACES = [
  "/services/all/clusters/c1/apis/test.dev/v1/things?",
  "/services/all/clusters/*/apis/test.dev/v1/things?",
  "/services/all/clusters/c1/apis/test.dev/v1/namespaces/ns1/things?",
  "/services/all/clusters/c1/apis/test.dev/v1/things?labelSelector=l+in+(x,y)&",
  "/services/all/clusters/c2/apis/test.dev/v1/things?fieldSelector=spec.n%3D1&",
  "/services/on/clusters/c1/apis/test.dev/v1/things?",
  "/services/on/clusters/*/apis/test.dev/v1/things?labelSelector=l%3Dx&",
] as const;

const change = fc.record({
  cluster: fc.constantFrom("c1", "c2"),
  namespace: fc.constantFrom("ns1", "ns2"),
  name: fc.constantFrom("a", "b", "c"),
  label: fc.constantFrom("x", "y", "z", undefined),
  on: fc.boolean(),
  n: fc.nat(2),
  gone: fc.nat(3).map((dice) => dice === 0),
});

function apply(
  things: Things,
  { cluster, namespace, name, label, on, n, gone }: typeof change extends fc.Arbitrary<infer C> ? C : never,
): void {
  const part = things.in(cluster, namespace);
  if (gone) part.delete(name);
  else part.set(name, { on, n }, { labels: label === undefined ? {} : { l: label } });
}

type State = Map<string, unknown>;
type Item = WatchEvent["object"];

const keyOf = ({ metadata }: Item): string =>
  [metadata.annotations?.["kcp.io/cluster"], metadata.namespace, metadata.name].join("/");

/** Applies an event, and checks that it makes sense where it comes. */
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

/** Follows from a list to the present, which a bookmark at the end of the stream names. */
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

describe("list and watch", () => {
  it("agree for every selection, from every version", async () => {
    const rounds = fc.array(fc.array(change, { maxLength: 8 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rounds, fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), async (script, dice) => {
        const things = Thing.collection();
        const on = view({ from: things, select: ({ spec }) => spec.on });
        const views = Object.entries({ all: things, on }).map(([name, storage]) =>
          defineVirtualWorkspace({
            name,
            path: "/clusters/:cluster",
            wildcard: true,
            authorize: () => allow(),
            resources: [Thing.serve(storage)],
          }),
        );
        await using server = await startPlain(views, { bookmarkEvery: 2 });
        const known = await Promise.all(PLACES.map(async (place) => [await list(server, place)]));
        for (const [round, changes] of script.entries()) {
          for (const one of changes) apply(things, one);
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
});
