// Several clients and the author write the same objects in four ways at once: in the stored version, in another one, and
// through a view of each. No update is lost, versions grow, every watch sees each change once and in order, and the state
// that a watch has assembled equals a list.
import {
  allow,
  type Collection,
  converted,
  defineResource,
  defineVirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { expect } from "chai";
import { APPLY, JSON_PATCH, MERGE } from "../_support/patches.ts";
import { type Answer, type PlainServer, startPlain, type WatchEvent } from "../_support/plain.ts";
import { Random } from "../_support/random.ts";

const status = { type: "object", properties: { n: { type: "integer" } } } as const;
const [integer, boolean] = [{ type: "integer" }, { type: "boolean" }] as const;
const counter = { group: "test.dev", kind: "Counter", scope: "Cluster", status } as const;
const V1 = defineResource({
  ...counter,
  version: "v1",
  spec: { type: "object", properties: { n: integer, hide: boolean } },
});
const V2 = defineResource({
  ...counter,
  version: "v2",
  spec: { type: "object", properties: { m: integer, hide: boolean } },
});
const Seen = defineResource({
  group: "view.dev",
  version: "v1",
  kind: "Seen",
  scope: "Cluster",
  spec: { type: "object", properties: { c: integer } },
  status,
});
type Status = { status?: { n?: number } };
const withStatus = ({ status }: Status): Status => (status === undefined ? {} : { status });

/** Resources through which the same objects are written, and the name of the count there. */
const WAYS = [
  { path: "/services/all/apis/test.dev/v1/counters", field: "n", apiVersion: "test.dev/v1", kind: "Counter" },
  { path: "/services/all/apis/test.dev/v2/counters", field: "m", apiVersion: "test.dev/v2", kind: "Counter" },
  { path: "/services/one/apis/view.dev/v1/seens", field: "c", apiVersion: "view.dev/v1", kind: "Seen" },
  { path: "/services/two/apis/view.dev/v1/seens", field: "c", apiVersion: "view.dev/v1", kind: "Seen" },
] as const;
type Way = (typeof WAYS)[number];
const NAMES = ["a", "b", "c"] as const;

type Counters = Collection<{ spec: { n?: number; hide?: boolean } } & Status>;

/** Stores of the objects. The test only awaits the author's calls here. */
const KEPT: Readonly<Record<string, () => Counters>> = {
  "a collection": () => V1.collection(),
  "a store": () => V1.collection(persistent(memoryStore())) as unknown as Counters,
};

async function start(kept: Counters) {
  const other = converted({
    from: kept,
    to: V2,
    read: ({ spec: { n, ...rest }, ...object }) => ({
      spec: { ...rest, ...(n === undefined ? {} : { m: n }) },
      ...withStatus(object),
    }),
    write: ({ spec: { m, ...rest }, ...object }) => ({
      spec: { ...rest, ...(m === undefined ? {} : { n: m }) },
      ...withStatus(object),
    }),
  });
  const one = view({
    from: kept,
    to: Seen,
    select: ({ spec }) => spec.hide !== true,
    map: ({ spec: { n }, ...object }) => ({ spec: n === undefined ? {} : { c: n }, ...withStatus(object) }),
    mapToSource: ({ spec: { c }, ...object }, { source }) => ({
      spec: { ...source?.spec, ...(c === undefined ? {} : { n: c }) },
      ...withStatus(object),
    }),
  });
  const two = view({
    from: other,
    to: Seen,
    select: ({ spec }) => spec.hide !== true,
    map: ({ spec: { m }, ...object }) => ({ spec: m === undefined ? {} : { c: m }, ...withStatus(object) }),
    mapToSource: ({ spec: { c }, ...object }, { source }) => ({
      spec: { ...source?.spec, ...(c === undefined ? {} : { m: c }) },
      ...withStatus(object),
    }),
  });
  const common = { path: "/", authorize: () => allow() } as const;
  const server = await startPlain([
    defineVirtualWorkspace({ ...common, name: "all", resources: [V1.serve(kept), V2.serve(other)] }),
    defineVirtualWorkspace({ ...common, name: "one", resources: [Seen.serve(one)] }),
    defineVirtualWorkspace({ ...common, name: "two", resources: [Seen.serve(two)] }),
  ]);
  return { here: kept.in(""), server };
}

/** Returns the state that a watch has seen, and checks each event. */
function piecedTogether(events: readonly WatchEvent[]): unknown[] {
  const objects = new Map<string, WatchEvent["object"]>();
  let last = 0n;
  for (const { type: what, object } of events) {
    const { name = "", resourceVersion = "", uid, generation = 0 } = object.metadata;
    const before = objects.get(name)?.metadata;
    expect(BigInt(resourceVersion) > last, `${resourceVersion} after ${last}`).to.equal(true);
    expect(before === undefined, `${what} ${name}`).to.equal(what === "ADDED");
    if (before?.uid === uid && what !== "DELETED") expect(generation).to.be.at.least(before?.generation ?? 0);
    last = BigInt(resourceVersion);
    if (what === "DELETED") objects.delete(name);
    else objects.set(name, object);
  }
  return [...objects.keys()].sort().map((name) => objects.get(name));
}

/** A client, or the author. Counts the increments that were answered, by the object's uid. */
class Client {
  readonly #server: PlainServer;
  readonly #random: Random;
  readonly #counted: Map<string, number>;

  constructor(server: PlainServer, random: Random, counted: Map<string, number>) {
    this.#server = server;
    this.#random = random;
    this.#counted = counted;
  }

  async act(author: (name: string, hide: boolean) => void): Promise<void> {
    const random = this.#random;
    const [way, name, chance] = [random.pick(WAYS), random.pick(NAMES), random.below(12)];
    const at = `${way.path}/${name}` as const;
    const { apiVersion, kind } = way;
    const server = this.#server;
    if (chance === 0)
      await server.send(`POST ${way.path}`, { apiVersion, kind, metadata: { name }, spec: { [way.field]: 0 } });
    else if (chance <= 6) await this.#increment(way, name);
    else if (chance === 7) await server.send(`PATCH ${at}/status`, { status: { n: random.below(5) } }, MERGE);
    else if (chance === 8) {
      const finalizers = random.below(2) === 0 ? null : ["test.dev/held"];
      await server.send(`PATCH ${at}`, { metadata: { finalizers } }, MERGE);
    } else if (chance === 9) await server.send(`DELETE ${at}`);
    else if (chance === 10) author(name, random.below(3) === 0);
    else {
      const applied = { apiVersion, kind, metadata: { name, labels: { x: `${random.below(9)}` } }, spec: {} };
      await server.send(`PATCH ${at}?fieldManager=m${random.below(2)}&force=true`, JSON.stringify(applied), APPLY);
    }
  }

  async #increment({ path, field }: Way, name: string): Promise<void> {
    const at = `${path}/${name}` as const;
    const { status: found, body } = await this.#server.get(at);
    if (found !== 200) return;
    const { [field]: count = 0, ...spec } = body.spec;
    const answer = await this.#raise(
      at,
      { ...body, spec: { ...spec, [field]: count + 1 } },
      count === 0 ? undefined : field,
    );
    expect(answer.status).to.be.oneOf([200, 404, 409, 422]);
    if (answer.status !== 200) return;
    expect(answer.body.spec[field]).to.equal(count + 1);
    const { uid } = body.metadata;
    this.#counted.set(uid, (this.#counted.get(uid) ?? 0) + 1);
  }

  /** Writes by replacement, or by a patch that tests the old value. */
  #raise(at: `/${string}`, next: Answer["body"], field: string | undefined): Promise<Answer> {
    if (field === undefined || this.#random.below(2) === 0) return this.#server.send(`PUT ${at}`, next);
    const path = `/spec/${field}`;
    const patch = [
      { op: "test", path, value: next.spec[field] - 1 },
      { op: "test", path: "/metadata/uid", value: next.metadata.uid },
      { op: "replace", path, value: next.spec[field] },
    ];
    return this.#server.send(`PATCH ${at}`, JSON.stringify(patch), JSON_PATCH);
  }
}

describe("histories of writes in several ways at once", function () {
  this.timeout(30_000);
  const runs = Object.keys(KEPT).flatMap((where) => [1, 2, 3].map((seed) => [where, seed] as const));
  for (const [where, seed] of runs) {
    it(`lose nothing and agree everywhere (${where}, seed ${seed})`, async () => {
      const { here, server } = await start((KEPT[where] as () => Counters)());
      await using _ = server;
      const watches = await Promise.all(WAYS.map(({ path }) => server.watch(`${path}?watch=true`)));
      const counted = new Map<string, number>();
      const author = (name: string, hide: boolean): void => {
        // With asynchronous calls, the author cannot act between reading and writing.
        const spec = where === "a collection" ? here.get(name)?.spec : undefined;
        if (spec !== undefined) here.set(name, { ...spec, hide });
      };
      const clients = Array.from(
        { length: 6 },
        (_each, at) => new Client(server, new Random(seed * 100 + at), counted),
      );
      const live = async (client: Client): Promise<void> => {
        for (let step = 0; step < 60; step++) await client.act(author);
      };
      await Promise.all(clients.map(live));
      for (const { metadata, spec } of await here.list()) {
        expect(spec.n ?? 0, metadata.name).to.equal(counted.get(metadata.uid ?? "") ?? 0);
        await here.set(metadata.name ?? "", { ...spec, hide: false });
      }
      await here.set("last", {});
      for (const [at, watch] of watches.entries()) {
        const events = await watch.until(({ object }) => object.metadata.name === "last");
        const { body } = await server.get(WAYS[at]?.path ?? "");
        expect(piecedTogether(events)).to.deep.equal(body.items);
        await watch[Symbol.asyncDispose]();
      }
    });
  }
});
