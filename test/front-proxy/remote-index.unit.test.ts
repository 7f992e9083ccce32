// Random histories of workspaces: another process that keeps places never has one that the index no longer has.
import assert from "node:assert/strict";
import { RemoteIndex } from "@virtual-workspaces/front-proxy";
import { homeClusterName } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { ObservedIndex } from "../../packages/front-proxy/src/places/observed.ts";
import { placeOf } from "../../packages/front-proxy/src/places/places.ts";
import { IndexPublisher } from "../../packages/front-proxy/src/places/publisher.ts";
import { Random } from "../_support/random.ts";

const SHARDS = ["one", "two"];
const CLUSTERS = ["root", "a1", "b2", "c3", homeClusterName("ann")];
const NAMES = ["team", "app", "x"];
const URLS = ["https://one.example/clusters/root:team", "https://two.example/"];

/** All paths with up to three names. */
const PATHS = [...CLUSTERS, "user:ann"].flatMap((first) => [
  first,
  ...NAMES.flatMap((second) => [`${first}:${second}`, ...NAMES.map((third) => `${first}:${second}:${third}`)]),
]);

describe("an index in another process", () => {
  it("never has a place that a change has ended, in random histories", async () => {
    for (let seed = 1; seed <= 10; seed++) await play(seed);
  });

  async function play(seed: number): Promise<void> {
    const random = new Random(seed);
    let asked = 0;
    const index: ObservedIndex = new ObservedIndex((names) => publisher.names(names));
    for (const shard of SHARDS) index.setShard(shard, { baseURL: `https://${shard}.example` });
    const lookup = (path: string) => placeOf(index.lookup(path), () => true);
    const publisher: IndexPublisher = new IndexPublisher({
      lookup: (path) => {
        asked += 1;
        return lookup(path);
      },
      issuers: () => [],
      shards: () => ({ type: "shards", shards: [], isStarted: true }),
    });
    const remotes = [1, 2].map(() => {
      const remote: RemoteIndex = new RemoteIndex({ send: (message) => connection.receive(message) });
      const connection = publisher.connect((message) => remote.receive(structuredClone(message)));
      return remote;
    });
    const change = (): void => {
      const [shard, cluster, name] = [random.pick(SHARDS), random.pick(CLUSTERS), random.pick(NAMES)];
      const turn = random.next();
      if (turn < 0.35) {
        const target = random.chance(0.7) ? random.pick(CLUSTERS) : undefined;
        const phase = random.pick(["Ready", "Ready", "Scheduling", "Unavailable"]);
        index.setWorkspace(shard, { cluster, name, target, mountURL: random.pick([undefined, ...URLS]), phase });
      } else if (turn < 0.5) index.deleteWorkspace(shard, { cluster, name });
      else if (turn < 0.8) index.setLogicalCluster(shard, { name: cluster, type: random.pick([undefined, "root:t"]) });
      else index.deleteLogicalCluster(shard, cluster);
    };
    for (const name of CLUSTERS) index.setLogicalCluster("one", { name });
    for (const cluster of CLUSTERS)
      for (const name of NAMES)
        index.setWorkspace("one", { cluster, name, target: random.pick(CLUSTERS), phase: "Ready" });
    for (let turn = 0; turn < 40; turn++) {
      change();
      await Promise.resolve();
      for (const path of PATHS.filter(() => random.chance(0.5)))
        for (const remote of remotes) {
          const { kind, ...place } = await remote.lookup(path);
          const now: object = lookup(path);
          const wanted = Object.fromEntries(Object.entries(now).filter(([name]) => name in place || name === "kind"));
          assert.deepStrictEqual({ kind, ...place }, wanted, `${path}, seed ${seed}, turn ${turn}`);
        }
    }
    const before = asked;
    for (const path of PATHS) for (const remote of remotes) await remote.lookup(path);
    const again = asked;
    for (const path of PATHS) for (const remote of remotes) await remote.lookup(path);
    const absent = PATHS.filter((path) => !["cluster", "mount"].includes(lookup(path).kind)).length;
    expect(asked - again, `lookups of kept places, seed ${seed}`).to.equal(absent * remotes.length);
    expect(again - before).to.be.at.least(absent);
  }
});
