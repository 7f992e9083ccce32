import { expect } from "chai";
import { told } from "./reader.ts";
import { type Engine, everything, Subject, under } from "./subject.ts";

export function describeProgress(engine: Engine): void {
  describe("requestProgress", () => {
    const subject = Subject.for(engine);

    it("delivers a batch without events", async () => {
      const head = await subject.put("a", "1");
      const reader = await subject.watch(under("idle/"));
      reader.requestProgress();
      expect(await reader.next()).to.deep.equal({ revision: head, events: [] });
      const next = reader.next();
      reader.requestProgress();
      expect(await next).to.deep.equal({ revision: head, events: [] });
      await reader.leave();
    });

    it("delivers at least the current revision, while other keys are written", async () => {
      const reader = await subject.watch(under("idle/"));
      for (let count = 0; count < 20; count++) {
        const revision = await subject.put("busy", String(count));
        reader.requestProgress();
        const batch = await reader.next();
        expect(batch.events).to.deep.equal([]);
        expect(batch.revision).to.be.at.least(revision);
      }
      await reader.leave();
    });

    it("delivers progress to a quiet watch while another one begins at the current revision", async () => {
      const quiet = await subject.watch(under("idle/"));
      const head = await subject.put("busy", "1");
      const latest = await subject.watch(under("late/"), { after: head });
      quiet.requestProgress();
      expect(await quiet.next()).to.deep.equal({ revision: head, events: [] });
      latest.requestProgress();
      expect(await latest.next()).to.deep.equal({ revision: head, events: [] });
      const next = await subject.put("late/a", "1");
      expect(told([await latest.next()], head)).to.deep.equal(["1: late/a=1"]);
      expect(next).to.equal(head + 1);
      await Promise.all([quiet.leave(), latest.leave()]);
    });

    it("delivers progress after the events of the history", async () => {
      const base = await subject.store.head();
      for (const value of ["1", "2", "3"]) await subject.put("a", value);
      const head = await subject.put("other", "1");
      const reader = await subject.watch(under("a"), { after: base });
      reader.requestProgress();
      const batches = [];
      while (reader.revision < head) batches.push(await reader.next());
      expect(told(batches, base)).to.deep.equal(["1: a=1", "2: a=2", "3: a=3", "4:"]);
      await reader.leave();
    });

    it("never delivers progress before all events up to it, during writes", async () => {
      const base = await subject.store.head();
      const [writers, writes] = [4, 50];
      const reader = await subject.watch(under("w/"), { after: base });
      let writing = true;
      const asking = (async () => {
        while (writing) {
          reader.requestProgress();
          await subject.put("busy", "");
        }
      })();
      const reading = (async () => {
        let events = 0;
        while (events < writers * writes) events += (await reader.next()).events.length; // the reader checks revisions
        return events;
      })();
      await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          for (let count = 0; count < writes; count++) await subject.put(`w/${writer}`, String(count));
        }),
      );
      expect(await reading).to.equal(writers * writes);
      writing = false;
      await asking;
      await reader.until(await subject.store.head());
      await reader.leave();
    }).timeout(60_000);

    it("lets a watch without events be resumed at that revision", async () => {
      const base = await subject.store.head();
      for (let count = 0; count < 5; count++) await subject.put("busy", String(count));
      const reader = await subject.watch(under("idle/"), { after: base });
      reader.requestProgress();
      const { revision } = await reader.next();
      await reader.leave();
      await subject.store.compact(revision);
      const resumed = await subject.watch(under("idle/"), { after: revision });
      const put = await subject.put("idle/a", "1");
      expect(told([await resumed.next()], put)).to.deep.equal(["0: idle/a=1"]);
      await resumed.leave();
      await subject.list(everything, revision);
    });
  });
}
