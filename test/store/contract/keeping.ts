import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises"; // in-process engines may answer before files and timers run
import { backup, keepHistory, memoryStore, readBackup, restore, revisionAfter } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Engine, everything, put, refused, Subject, under } from "./subject.ts";

/** Defines tests of code that works with any engine. */
export function describeKeeping(engine: Engine): void {
  describe("backup and keepHistory", () => {
    const subject = Subject.for(engine);
    let folder = "";

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "store-"));
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it("a backup during writes holds the entries of one revision", async () => {
      const pairs = Array.from({ length: 300 }, (_, index) => [`left/${index}`, `right/${index}`] as const);
      const write = ([left, right]: readonly [string, string], value: string): Promise<number> =>
        subject.done(put(left, value), put(right, value));
      await Promise.all(pairs.map((pair) => write(pair, "before")));
      const lease = await subject.store.grant(1000);
      await subject.put("leased", "x", lease);
      let done = false;
      let written = 0;
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (; !done; await turn())
          await write(pairs[(7 * written++ + writer) % pairs.length] ?? ["a", "b"], String(written));
      });
      const file = join(folder, "backup");
      const info = await backup(subject.store, file).finally(() => {
        done = true;
      });
      await Promise.all(writers);
      expect(await readBackup(file)).to.deep.equal(info);
      await using other = memoryStore({ revision: revisionAfter(info) });
      await restore(file, other);
      const { entries } = await other.range(everything);
      const texts = entries.map(({ key, value }) => `${key}=${value}`);
      expect(texts).to.deep.equal(await subject.list(everything, info.revision));
      expect(texts).to.have.length(601);
      const values = new Map(entries.map(({ key, value }) => [key, String(value)]));
      for (const [left, right] of pairs) expect(values.get(left)).to.equal(values.get(right));
      expect(await other.remaining((await other.get("leased"))?.lease ?? "")).to.be.within(900, lease.ttl);
    }).timeout(60_000);

    it("any number of processes compact the history", async () => {
      const base = await subject.store.head();
      const keepers = Array.from({ length: 3 }, () => keepHistory(subject.store, { revisions: 100, interval: 0.01 }));
      let head = base;
      let forgotten = false;
      while (!forgotten) {
        head = await subject.put("busy", "x");
        await turn();
        forgotten = await subject.list(under("busy"), base).then(
          () => false,
          async (error: unknown) => (await refused("Compacted", () => Promise.reject(error))).compacted !== undefined,
        );
      }
      for (const keeper of keepers) keeper[Symbol.dispose]();
      expect(await subject.list(under("busy"), head - 50)).to.deep.equal(["busy=x"]);
      expect(head - base).to.be.above(100);
    }).timeout(60_000);
  });
}
