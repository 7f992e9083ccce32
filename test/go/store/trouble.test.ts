import type { Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { everything, put, refused } from "../../store/contract/subject.ts";
import { EtcdCluster, etcdThere, versions } from "../support/etcd.ts";
import { Follower, Load } from "./load.ts";

const MEBIBYTE = 1024 * 1024;

/** Writes many keys, 100 at a time. */
async function fill(store: Store, count: number, value: Buffer): Promise<void> {
  const key = (index: number): string => `k/${String(index).padStart(6, "0")}`;
  const starts = Array.from({ length: Math.ceil(count / 100) }, (_, part) => part * 100);
  const fillPart = async (): Promise<void> => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const from = start;
      const operations = Array.from({ length: 100 }, (_, index) => ({
        type: "put" as const,
        key: key(from + index),
        value,
      }));
      await store.commit({ conditions: [], operations });
    }
  };
  await Promise.all(Array.from({ length: 8 }, fillPart));
}

for (const version of versions)
  describe(`faults of etcd ${version}`, function () {
    this.timeout(60_000);
    before(etcdThere(version));

    it("a restart and a compaction under open watches: watches see every change exactly once", async () => {
      await using cluster = await EtcdCluster.start({ version });
      await using store = await cluster.store();
      const load = await Load.start(store);
      const quietWatch = store.watch({ from: "quiet/", to: "quiet0" }, { after: await store.head() });
      const quiet = quietWatch[Symbol.asyncIterator]();
      for (let round = 0; round < 2; round++) {
        await load.more(200);
        await cluster.kill();
        cluster.launch();
        await load.more(200);
      }
      await load.live.reaches(await store.head());
      const next = quiet.next();
      const outcome = await store.commit({ conditions: [], operations: [put("quiet/a", "1")] });
      expect((await next).value?.revision).to.equal(outcome.revision);
      await load.end();
      const head = await store.head();
      // A compaction ends a watch whose past etcd is still sending, as it may after a batch that it had to send again.
      quietWatch.requestProgress();
      expect((await quiet.next()).value).to.deep.include({ events: [] });
      await store.compact(head);
      const after = await store.commit({ conditions: [], operations: [put("quiet/b", "1")] });
      expect((await quiet.next()).value?.revision).to.equal(after.revision);
      await refused("Compacted", () => new Follower(store, head - 1).reaches(head));
    });

    it("an outage: reported once, and its end once", async () => {
      await using cluster = await EtcdCluster.start({ version });
      const problems: (string | undefined)[] = [];
      await using store = await cluster.store({ onOutage: (problem) => problems.push(problem?.message) });
      await cluster.kill();
      await refused("Unavailable", () => store.head());
      await refused("Unavailable", () => store.get("a"));
      expect(problems).to.have.length(1);
      expect(problems[0]).to.match(/^etcd at localhost:[0-9]+: No connection established/);
      cluster.launch();
      await store.head();
      expect(problems.slice(1)).to.deep.equal([undefined]);
    });

    it("an exhausted quota: writes fail with NoSpace, and reads continue", async () => {
      await using cluster = await EtcdCluster.start({ version, flags: { "quota-backend-bytes": 4 * MEBIBYTE } });
      await using store = await cluster.store();
      const value = Buffer.alloc(MEBIBYTE, "x");
      const writing = async (): Promise<void> => {
        for (let count = 0; count < 20; count++)
          await store.commit({ conditions: [], operations: [{ type: "put", key: `k${count}`, value }] });
      };
      const { message } = await refused("NoSpace", writing);
      expect(message).to.match(/space exceeded/);
      const { entries, revision } = await store.range(everything);
      expect(entries.length).to.be.at.least(1);
      for (const entry of entries) expect(entry.value.equals(value)).to.equal(true);
      await new Follower(store, revision).reaches(revision);
    });

    it("a value or a transaction above the limit: TooLarge, and nothing is written", async () => {
      await using cluster = await EtcdCluster.start({ version });
      await using store = await cluster.store();
      for (const bytes of [1.6 * MEBIBYTE, 4 * MEBIBYTE, 8 * MEBIBYTE])
        await refused("TooLarge", () =>
          store.commit({ conditions: [], operations: [{ type: "put", key: "a", value: Buffer.alloc(bytes) }] }),
        );
      expect((await store.range(everything)).entries).to.deep.equal([]);
    });

    it("long ranges are read in several answers", async () => {
      await using cluster = await EtcdCluster.start({ version });
      await using store = await cluster.store();
      const count = version === "3.6" ? 100_000 : 30_000;
      await fill(store, count, Buffer.alloc(100, "x"));
      const many = await store.range(everything);
      expect(many.entries).to.have.length(count);
      expect(new Set(many.entries.map(({ key }) => key)).size).to.equal(count);
      expect(many.more).to.equal(false);
      const limited = await store.range(everything, { limit: 20_001 });
      expect([limited.entries.length, limited.more]).to.deep.equal([20_001, true]);
      await fill(store, 10_000, Buffer.alloc(2048, "y"));
      const old = await store.range(everything, { revision: many.revision });
      expect(old.entries.map(({ modRevision }) => modRevision)).to.deep.equal(
        many.entries.map(({ modRevision }) => modRevision),
      );
      const bytes = (await store.range(everything)).entries.reduce((sum, { value }) => sum + value.length, 0);
      expect(bytes).to.equal((count - 10_000) * 100 + 10_000 * 2048);
      const follower = store.watch(everything, { after: many.revision });
      let events = 0;
      for await (const batch of follower) {
        events += batch.events.length;
        if (events === 10_000) break;
      }
    });
  });
