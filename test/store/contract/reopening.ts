import { expect } from "chai";
import { told } from "./reader.ts";
import { type Engine, everything, put, refused, Subject, shown } from "./subject.ts";

export function describeReopening(engine: Engine): void {
  describe("a reopened store", function () {
    this.timeout(60_000);
    const subject = Subject.for(engine);

    it("has all entries, and continues its revisions", async () => {
      await subject.put("gone", "1");
      await subject.put("a", "1");
      await subject.put("a", "2");
      await subject.delete("gone");
      const before = await subject.store.range(everything);
      await subject.reopen();
      const after = await subject.store.range(everything);
      expect(after.entries.map(shown)).to.deep.equal(before.entries.map(shown));
      expect(after.revision).to.equal(before.revision);
      expect(await subject.store.head()).to.equal(before.revision);
      expect(await subject.put("b", "1")).to.equal(before.revision + 1);
      const [entry] = before.entries;
      const outcome = await subject.commit({
        conditions: [{ key: "a", modRevision: entry?.modRevision ?? 0 }],
        operations: [put("a", "3")],
      });
      expect(outcome).to.deep.equal({ committed: true, revision: before.revision + 2 });
    });

    it("keeps the history", async () => {
      const base = await subject.put("a", "1");
      await subject.done(put("a", "2"), put("b", "1"));
      await subject.delete("a");
      await subject.reopen();
      expect(await subject.list(everything, base)).to.deep.equal(["a=1"]);
      expect(await subject.list(everything, base + 1)).to.deep.equal(["a=2", "b=1"]);
      const reader = await subject.watch(everything, { after: base, previous: true });
      await subject.put("c", "1");
      expect(told(await reader.until(base + 3), base)).to.deep.equal(["1: a=2(1) b=1", "2: a-(2)", "3: c=1"]);
      await reader.leave();
    });

    it("keeps compacted revisions compacted", async () => {
      const base = await subject.put("a", "1");
      await subject.put("a", "2");
      await subject.put("a", "3");
      await subject.store.compact(base + 1);
      await subject.reopen();
      const error = await refused("Compacted", () => subject.store.range(everything, { revision: base }));
      expect(error.compacted).to.equal(base + 1);
      const reader = await subject.watch(everything, { after: base });
      await refused("Compacted", () => reader.next());
      expect(await subject.list(everything, base + 1)).to.deep.equal(["a=2"]);
    });

    it("keeps leases: they expire, and their ids stay unique", async () => {
      const [short, long] = [await subject.store.grant(1), await subject.store.grant(600)];
      await subject.done(put("short", "1", short), put("long", "1", long), put("free", "1", long));
      await subject.put("free", "2");
      const base = await subject.store.head();
      await subject.reopen();
      const fresh = await subject.store.grant(600);
      expect(fresh.id).to.not.be.oneOf([short.id, long.id]);
      const reader = await subject.watch(everything, { after: base });
      expect((await reader.next()).events.map(({ key }) => key)).to.deep.equal(["short"]);
      expect(await subject.store.remaining(long.id)).to.be.within(500, long.ttl);
      expect((await subject.store.get("long"))?.lease).to.equal(long.id);
      await subject.store.revoke(long);
      expect(await subject.list()).to.deep.equal(["free=2"]);
      await refused("LeaseNotFound", () => subject.store.renew(short));
      await reader.leave();
    });
  });
}
