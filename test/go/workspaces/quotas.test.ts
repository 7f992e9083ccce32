// Two processes over one etcd keep quotas together: writers through both, whatever the interleaving, never exceed one.
import { setTimeout as delay } from "node:timers/promises";
import { etcdStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Random } from "../../_support/random.ts";
import type { Admin, Body } from "../../workspace-server/faults/support/admin.ts";
import * as make from "../../workspace-server/faults/support/tree.ts";
import { etcdThere } from "../support/etcd.ts";
import { Together } from "../support/together.ts";

const { paths, within } = make;
const QUOTAS = "/api/v1/namespaces/default/resourcequotas";

/** Watches the ConfigMaps in the store itself. @returns ends it, with the largest number there ever was */
async function largest(together: Together, cluster: string): Promise<() => Promise<number>> {
  const store = await etcdStore({ endpoints: together.etcd.endpoints, prefix: together.prefix });
  const prefix = `/configmaps/${cluster}/default/`;
  const range = { from: prefix, to: `${prefix.slice(0, -1)}0` };
  const { entries, revision } = await store.range(range);
  const there = new Set(entries.map(({ key }) => key));
  let most = there.size;
  let seen = revision;
  const stop = new AbortController();
  const watch = store.watch(range, { after: revision, signal: stop.signal });
  const watching = (async () => {
    for await (const batch of watch) {
      for (const { key, entry } of batch.events) entry === undefined ? there.delete(key) : there.add(key);
      most = Math.max(most, there.size);
      seen = batch.revision;
    }
  })();
  return async () => {
    const head = await store.head();
    for (; seen < head; await delay(5)) watch.requestProgress();
    stop.abort();
    await watching;
    await store[Symbol.asyncDispose]();
    return most;
  };
}

describe("a quota over two processes", function () {
  this.timeout(120_000);
  before(etcdThere("3.4"));

  it("is never exceeded by many writers, some of which delete, and ends with the true usage", async () => {
    await using together = await Together.start();
    const [first, one] = await together.process("one");
    const [second, two] = await together.process("two");
    await using _first = first;
    await using _second = second;
    using _one = one;
    using _two = two;
    await one.ok("POST", within("root", paths.WORKSPACES), make.workspace("w"));
    const ready = await two.until(
      within("root", `${paths.WORKSPACES}/w`),
      ({ body }) => body.status?.phase === "Ready",
    );
    const { cluster } = ready.body.spec;
    const maps = within("root:w", paths.MAPS);
    await one.until(`${maps}/kube-root-ca.crt`, ({ status }) => status === 200);
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { "count/configmaps": "10" } },
    };
    await one.ok("POST", within("root:w", QUOTAS), quota);
    const used = (many: string) => (admin: Admin) =>
      admin.until(within("root:w", `${QUOTAS}/q`), ({ body }) => body.status?.used?.["count/configmaps"] === many);
    await used("1")(one);
    await used("1")(two);
    const end = await largest(together, cluster);
    const random = new Random(5);
    const tally = { created: 0, rejected: 0, deleted: 0 };
    const createOne = async (admin: Admin, name: string): Promise<boolean> => {
      const { status, body } = await admin.send("POST", maps, make.configMap(name));
      if (status !== 201 && status !== 403) throw new Error(`${status} ${JSON.stringify(body)}`);
      tally[status === 201 ? "created" : "rejected"]++;
      return status === 201;
    };
    const start = performance.now();
    for (let round = 0; round < 12; round++) {
      const writers = Array.from({ length: 24 }, async (_, at) => {
        const [here, there] = at % 2 ? [one, two] : [two, one];
        for (let turn = 0; turn < 3; turn++) {
          const name = `r${round}-${at}-${turn}`;
          if (!(await createOne(here, name)) || random.chance(0.5)) continue;
          // Deleted through the other process.
          await there.ok("DELETE", `${maps}/${name}`);
          tally.deleted++;
        }
      });
      await Promise.all(writers);
      // As many as there is room for can be created.
      const { items } = (await one.get(maps)).body;
      const more = Array.from({ length: 24 }, (_, at) => createOne(at % 2 ? one : two, `r${round}-last-${at}`));
      expect((await Promise.all(more)).filter(Boolean)).to.have.length(10 - items.length);
      const { items: full } = (await two.get(maps)).body;
      expect(full).to.have.length(10);
      const others = full.filter(({ metadata }: Body) => metadata.name !== "kube-root-ca.crt");
      await Promise.all(others.map(({ metadata }: Body) => one.ok("DELETE", `${maps}/${metadata.name}`)));
    }
    const seconds = (performance.now() - start) / 1000;
    expect(await end(), JSON.stringify(tally)).to.equal(10);
    expect(tally.rejected).to.be.above(0);
    await used("1")(one);
    await used("1")(two);
    if (process.env["QUOTA_TIMES"]) console.log({ ...tally, seconds });
  });

  it("has room at once after a delete through the other process", async () => {
    await using together = await Together.start();
    const [first, one] = await together.process("one");
    const [second, two] = await together.process("two");
    await using _first = first;
    await using _second = second;
    using _one = one;
    using _two = two;
    await one.ok("POST", within("root", paths.WORKSPACES), make.workspace("w"));
    await two.until(within("root", `${paths.WORKSPACES}/w`), ({ body }) => body.status?.phase === "Ready");
    const maps = within("root:w", paths.MAPS);
    await one.until(`${maps}/kube-root-ca.crt`, ({ status }) => status === 200);
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { configmaps: 2 } },
    };
    await one.ok("POST", within("root:w", QUOTAS), quota);
    for (const each of [one, two])
      await each.until(within("root:w", `${QUOTAS}/q`), ({ body }) => body.status?.used?.configmaps === "1");
    await one.ok("POST", maps, make.configMap("m0"));
    for (let at = 0; at < 30; at++) {
      const [here, there] = at % 2 ? [one, two] : [two, one];
      expect((await here.send("POST", maps, make.configMap("more"))).status).to.equal(403);
      await here.ok("DELETE", `${maps}/m${at}`);
      await there.ok("POST", maps, make.configMap(`m${at + 1}`));
      expect((await here.send("POST", maps, make.configMap("more"))).status).to.equal(403);
    }
  });
});
