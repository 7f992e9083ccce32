import { isStoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { told } from "./reader.ts";
import { type Engine, everything, put, refused, Subject, shown, under } from "./subject.ts";

export function describeCompaction(engine: Engine): void {
  describe("compact", () => {
    const subject = Subject.for(engine);

    /** `a` put at base+1, +2, +3, `b` at +4, deleted at +5, `old` at base. */
    async function written(): Promise<number> {
      const base = await subject.put("old", "0");
      for (const value of ["1", "2", "3"]) await subject.put("a", value);
      await subject.put("b", "1");
      await subject.delete("b");
      return base;
    }

    it("removes ranges at lower revisions, and nothing else", async () => {
      const base = await written();
      await subject.store.compact(base + 3);
      for (const revision of [base, base + 1, base + 2]) {
        const error = await refused("Compacted", () => subject.store.range(everything, { revision }));
        expect(error.compacted).to.equal(base + 3);
      }
      expect(await subject.list(everything, base + 3)).to.deep.equal(["a=3", "old=0"]);
      expect(await subject.list(everything, base + 4)).to.deep.equal(["a=3", "b=1", "old=0"]);
      expect(await subject.list(everything, base + 5)).to.deep.equal(["a=3", "old=0"]);
      expect(await subject.store.head()).to.equal(base + 5);
    });

    it("ends watches after lower revisions, and no others", async () => {
      const base = await written();
      await subject.store.compact(base + 3);
      for (const after of [0, base, base + 2]) {
        const reader = await subject.watch(everything, { after });
        const error = await refused("Compacted", () => reader.next());
        expect(error.compacted).to.equal(base + 3);
      }
      const reader = await subject.watch(everything, { after: base + 3, previous: true });
      expect(told(await reader.until(base + 5), base)).to.deep.equal(["4: b=1", "5: b-(1)"]);
      await reader.leave();
    });

    it("keeps current entries, with their revisions", async () => {
      const base = await written();
      await subject.store.compact(base + 5);
      const { entries } = await subject.store.range(everything);
      expect(entries.map(shown)).to.deep.equal([
        { key: "a", value: "3", createRevision: base + 1, modRevision: base + 3 },
        { key: "old", value: "0", createRevision: base, modRevision: base },
      ]);
      expect(await subject.at("b")).to.equal(undefined);
      const reader = await subject.watch(everything, { previous: true });
      const again = await subject.commit({ conditions: [{ key: "b", modRevision: 0 }], operations: [put("b", "2")] });
      expect(again).to.deep.equal({ committed: true, revision: base + 6 });
      await subject.put("a", "4");
      expect(told(await reader.until(base + 7), base)).to.deep.equal(["6: b=2", "7: a=4(3)"]);
      expect(await subject.at("b")).to.deep.include({ createRevision: base + 6 });
      expect(await subject.list(everything, base + 5)).to.deep.equal(["a=3", "old=0"]);
      await reader.leave();
    });

    it("does nothing a second time, or for a lower revision", async () => {
      const base = await written();
      await subject.store.compact(base + 4);
      await subject.store.compact(base + 4);
      await subject.store.compact(base + 2);
      await subject.store.compact(0);
      expect(await subject.list(everything, base + 4)).to.deep.equal(["a=3", "b=1", "old=0"]);
      const error = await refused("Compacted", () => subject.store.range(everything, { revision: base + 3 }));
      expect(error.compacted).to.equal(base + 4);
      expect(await subject.store.head()).to.equal(base + 5);
    });

    it("accepts revisions up to the newest", async () => {
      const base = await written();
      await refused("Future", () => subject.store.compact(base + 6));
      await subject.store.compact(base + 5);
      expect(await subject.list()).to.deep.equal(["a=3", "old=0"]);
      await subject.delete("a");
      await subject.delete("old");
      await subject.store.compact(base + 7);
      expect(await subject.list()).to.deep.equal([]);
      expect(await subject.put("a", "1")).to.equal(base + 8);
      expect(await subject.at("a")).to.deep.include({ createRevision: base + 8 });
    });

    it("does not affect watches that have delivered everything", async () => {
      const base = await subject.store.head();
      const busy = await subject.watch(under("busy"));
      const idle = await subject.watch(under("idle/"));
      for (let count = 1; count <= 10; count++) {
        await subject.put("busy", String(count));
        expect(told(await busy.until(base + count), base)).to.deep.equal([`${count}: busy=${count}`]);
        await idle.until(base + count);
        await subject.store.compact(base + count);
      }
      await subject.done(put("busy", "x"), put("idle/a", "x"));
      expect(told([await busy.next()], base)).to.deep.equal(["11: busy=x"]);
      expect(told([await idle.next()], base)).to.deep.equal(["11: idle/a=x"]);
      await busy.leave();
      await idle.leave();
    });

    it("leaves no gap in a slow watch, which continues or throws", async () => {
      const base = await subject.store.head();
      const reader = await subject.watch();
      const first = reader.next();
      for (let count = 1; count <= 2000; count += 100)
        await Promise.all(Array.from({ length: 100 }, (_, index) => subject.put("a", String(count + index))));
      await first;
      await subject.store.compact(base + 1900);
      let events = 1;
      try {
        while (reader.revision < base + 2000) events += (await reader.next()).events.length;
        expect(events, "it was told everything").to.equal(2000);
      } catch (error) {
        if (!isStoreError(error) || error.code !== "Compacted") throw error;
        expect(error.compacted).to.equal(base + 1900);
        expect(events, "it was told everything up to there").to.equal(reader.revision - base);
        expect(reader.revision).to.be.below(base + 1900);
        expect(await reader.read(), "it has ended").to.equal(undefined);
      }
      await reader.leave();
    }).timeout(60_000);

    it("runs concurrently with readers and writers", async () => {
      const base = await subject.store.head();
      const keys = Array.from({ length: 50 }, (_, index) => `k/${String(index).padStart(2, "0")}`);
      await subject.done(...keys.map((key) => put(key, "0")));
      let writing = true;
      const compacting = (async () => {
        while (writing) await subject.store.compact(await subject.store.head());
      })();
      const writer = async (part: number): Promise<void> => {
        for (let count = 1; count <= 10; count++)
          for (const key of keys.slice(part * 10, part * 10 + 10)) {
            await subject.put(key, String(count));
            expect(await subject.list(under("k/"))).to.have.length(50);
          }
      };
      await Promise.all([0, 1, 2, 3, 4].map(writer));
      writing = false;
      await compacting;
      expect(await subject.list(under("k/"))).to.deep.equal(keys.map((key) => `${key}=10`));
      expect(await subject.store.head()).to.equal(base + 501);
    }).timeout(60_000);
  });
}
