// Changes the list of shards a hundred times while their objects are written and deleted. In whatever order the events
// arrive, the final state must be correct, and each deletion is reported once.
import { expect } from "chai";
import { Random } from "../../_support/random.ts";
import { until } from "../../_support/until.ts";
import { follow } from "../support/followed.ts";
import { startGate } from "../support/gate.ts";
import { type Shard, startShard, startSlices } from "../support/shard.ts";

/** Objects of the shards, as a controller should see them. */
function truth(shards: readonly Shard[]): Record<string, number | undefined> {
  const objects = shards.flatMap(({ widgets }, at) =>
    clusters(at).flatMap((name) => widgets.in(name, "default").list()),
  );
  return Object.fromEntries(
    objects.map(({ metadata, spec }) => [
      `${metadata.annotations?.["kcp.io/cluster"]}|default/${metadata.name}`,
      spec.size,
    ]),
  );
}

const clusters = (shard: number): string[] => [0, 1, 2].map((n) => `c${shard}-${n}`);

/** Returns objects that were reported as deleted twice in a row. */
function deletedAgain(told: readonly string[]): string[] {
  const last = new Map<string, string>();
  return told.filter((text) => {
    const [id = "", what = ""] = text.split(" ");
    const isAgain = what === "deleted" && last.get(id) === what;
    last.set(id, what);
    return isAgain;
  });
}

describe("a controller over shards whose list changes a hundred times", () => {
  for (const seed of [1, 2, 3])
    it(`sees the final state of each object, and each deletion once (seed ${seed})`, async () => {
      const random = new Random(seed);
      await using stack = new AsyncDisposableStack();
      const slices = stack.use(await startSlices());
      const shards = [
        stack.use(await startShard()),
        stack.use(await startShard()),
        stack.use(await startShard()),
      ] as const;
      const [stable, ...others] = shards;
      const wire = stack.use(await startGate(Number(new URL(stable.url).port)));
      wire.open();
      const alias = stable.url.replace(/:\d+/, `:${wire.port}`);
      const deleted: string[][] = [[], [], []];
      let written = 0;
      const write = (): void => {
        const at = random.below(3);
        const cluster = random.pick(clusters(at));
        const part = (shards[at] as Shard).widgets.in(cluster, "default");
        const names = part.list().map(({ metadata }) => metadata.name ?? "");
        if (names.length > 0 && random.chance(0.3)) {
          const name = random.pick(names);
          part.delete(name);
          deleted[at]?.push(`${cluster}|default/${name}`);
        } else
          part.set(names.length > 0 && random.chance(0.5) ? random.pick(names) : `w${++written}`, { size: written });
      };

      slices.list(stable.url);
      await using it = follow(slices, Object.fromEntries([...shards.map((each) => [each.url, each]), [alias, stable]]));
      await it.running.started;
      for (let change = 0; change < 100; change++) {
        for (let writes = random.below(8); writes > 0; writes--) write();
        // The stable shard is always listed, by one or both of its addresses.
        const stables = random.pick([[stable.url], [stable.url, alias], [alias, stable.url]]);
        slices.list(...stables, ...others.filter(() => random.chance(0.5)).map(({ url }) => url));
        if (random.chance(0.1)) wire.cut();
        if (random.chance(0.3)) await slices.client.upstream.send({ path: "/readyz" });
        for (let turns = random.below(30); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      }
      slices.list(stable.url, ...others.map(({ url }) => url));
      await until(() => it.statuses().length === 3 && it.statuses().every((text) => / True /.test(text)), {
        what: "all endpoints",
      });
      for (let writes = 0; writes < 20; writes++) write();
      const wanted = truth(shards);
      const isTrue = (): boolean =>
        it.world.size === Object.keys(wanted).length &&
        Object.entries(wanted).every(([id, size]) => it.world.get(id) === size);
      await until(isTrue, { what: "the world is as the shards have it" });

      const told = it.told.flatMap((text) => (text.endsWith(" deleted") ? [text.slice(0, -" deleted".length)] : []));
      const ofStable = [...new Set(told.filter((id) => id.startsWith("c0-")))];
      expect(ofStable.sort(), "all of the shard that was always there").to.eql(deleted[0]?.sort());
      expect(deletedAgain(it.told), "none again, unless it came back").to.eql([]);
      expect(deleted.flat()).to.include.members(told);
      const last = new Map(it.told.map((text) => text.split(" ") as [string, string]));
      expect([...last].filter(([id, what]) => id.startsWith("c0-") && what === "gone")).to.eql([]);
      expect(
        it.failures.filter(({ url }) => url !== alias),
        "but of the wire that was cut",
      ).to.eql([]);
      await it[Symbol.asyncDispose]();
      expect(Object.fromEntries(it.world), "nothing more was told").to.eql(wanted);
    }).timeout(30_000);
});
