// Informers of client-go that divide the objects by shard selectors, as replicas of a controller do.
import { dirname } from "node:path";
import { expect } from "chai";
import { HALVES, halfOf, namesIn, shard } from "../_support/shards.ts";
import { building } from "./support/build.ts";
import { builtKubectl, kubectl } from "./support/kubectl.ts";
import { Stage } from "./support/stage.ts";
import { versionsOf } from "./support/views.ts";

const QUOTES = "/apis/example.dev/v1/quotes";

describe("informers with shard selectors", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const informer of ["informer", "typed-informer", "metadata-informer"] as const)
    it(`hold disjoint halves, together all objects, while objects come, change and go: ${informer}`, async () => {
      await using stage = await Stage.start();
      stage.fill(100);
      await using lower = stage.client(informer, { shard: HALVES[0] });
      await using upper = stage.client(informer, { shard: HALVES[1] });
      const both = [lower, upper] as const;
      const versionsIn = (half: number) => versionsOf(stage.root.list().filter((quote) => halfOf(quote) === half));
      for (const [half, client] of both.entries()) {
        const { count } = await client.event("synced");
        expect(count).to.equal(versionsIn(half).size);
        expect(count).to.be.within(20, 80);
      }
      stage.fill(50, "later");
      for (const { metadata } of stage.root.list().slice(0, 30))
        stage.root.set(metadata.name ?? "", { text: "changed" });
      for (const { metadata } of stage.root.list().slice(20, 40)) stage.root.delete(metadata.name ?? "");
      for (const [half, client] of both.entries()) await client.holds(versionsIn(half));
      const names = [...lower.objects.keys(), ...upper.objects.keys()];
      expect(names.sort()).to.deep.equal([...stage.versions.keys()].sort());
      for (const [half, client] of both.entries()) {
        const keys = new Set(client.events.flatMap(({ key }) => (typeof key === "string" ? [key] : [])));
        for (const name of stage.versions.keys()) expect(keys.has(name)).to.equal(versionsIn(half).has(name));
        expect(client.verbs()).to.deep.equal(["watchlist"]);
        expect(client.noise()).to.deep.equal([]);
        await client.end();
      }
    });

  it("kubectl get --raw lists a half, and names the parameter of an error", async () => {
    await using stage = await Stage.start();
    stage.fill(20);
    const { kubeconfig } = stage;
    const get = (query: string) =>
      kubectl(builtKubectl(), { home: dirname(kubeconfig), kubeconfig }, ["get", "--raw", `${QUOTES}?${query}`]);
    const { stdout, stderr: faults } = await get(shard(HALVES[1]));
    expect(faults).to.equal("");
    const list = JSON.parse(stdout);
    expect(list.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal(
      namesIn(stage.root.list(), 1),
    );
    expect(list.metadata.shardInfo).to.deep.equal({ selector: HALVES[1] });
    const { code, stderr } = await get(shard("all"));
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^Error from server \(BadRequest\): invalid shardSelector: unexpected "all" at offset 0: use /,
    );
  });
});
