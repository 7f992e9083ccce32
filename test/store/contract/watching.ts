import { expect } from "chai";
import { type Reader, told } from "./reader.ts";
import { type Engine, everything, put, Subject, under } from "./subject.ts";

export function describeWatching(engine: Engine): void {
  describe("watches", () => {
    const subject = Subject.for(engine);

    it("deliver events after a revision", async () => {
      await subject.put("a", "0");
      const base = await subject.store.head();
      await subject.put("a", "1");
      await subject.put("b", "1");
      await subject.delete("a");
      await subject.put("a", "2");
      const all = ["1: a=1", "2: b=1", "3: a-", "4: a=2"];
      for (let after = 0; after <= 4; after++) {
        const reader = await subject.watch(everything, { after: base + after });
        expect(told(await reader.until(base + 4), base)).to.deep.equal(all.slice(after));
        await reader.leave();
      }
    });

    it("deliver live events", async () => {
      const reader = await subject.watch();
      const base = await subject.store.head();
      for (const [index, value] of ["1", "2", "3"].entries()) {
        const next = reader.next();
        await subject.put("a", value);
        expect(told([await next], base)).to.deep.equal([`${index + 1}: a=${value}`]);
      }
      const next = reader.next();
      await subject.delete("a");
      expect(told([await next], base)).to.deep.equal(["4: a-"]);
      await reader.leave();
    });

    it("deliver entries with their revisions", async () => {
      const first = await subject.put("a", "1");
      const second = await subject.put("a", "2");
      const reader = await subject.watch(everything, { after: first });
      expect((await reader.next()).events).to.deep.equal([
        {
          key: "a",
          entry: { key: "a", value: Buffer.from("2"), createRevision: first, modRevision: second },
          previous: undefined,
        },
      ]);
      await reader.leave();
    });

    it("deliver only events of their range", async () => {
      const base = await subject.store.head();
      const live = await subject.watch({ from: "b", to: "\uFFFF" });
      await subject.done(...["a", "b", "c", "\uFFFF", "\u{10000}"].map((key) => put(key, "1")));
      await subject.put("a", "2");
      await subject.put("ba", "2");
      await subject.delete("\u{10000}");
      const history = await subject.watch({ from: "b", to: "\uFFFF" }, { after: base });
      for (const reader of [live, history]) {
        expect(told(await reader.until(base + 4), base)).to.deep.equal(["1: b=1 c=1", "3: ba=2"]);
        await reader.leave();
      }
    });

    it("deliver all events of a revision as one batch", async () => {
      await subject.done(put("c", "1"), put("e", "1"));
      const base = await subject.store.head();
      const live = await subject.watch();
      await subject.done(put("b", "1"), put("a", "1"), { type: "delete", key: "c" }, { type: "delete", key: "d" });
      await subject.done({ type: "delete", key: "e" }, put("c", "2"));
      const history = await subject.watch(everything, { after: base });
      for (const reader of [live, history]) {
        expect(told(await reader.until(base + 2), base)).to.deep.equal(["1: a=1 b=1 c-", "2: c=2 e-"]);
        await reader.leave();
      }
    });

    it("deliver 128 events with large values as one batch", async () => {
      const value = "x".repeat(8000);
      const live = await subject.watch();
      const keys = Array.from({ length: 128 }, (_, index) => `k${index}`);
      const revision = await subject.done(...keys.map((key) => put(key, value)));
      const history = await subject.watch(everything, { after: revision - 1 });
      for (const reader of [live, history]) {
        const batch = await reader.next();
        expect(batch.events).to.have.length(128);
        expect(batch.events.every(({ entry }) => entry?.value.length === 8000)).to.equal(true);
        await reader.leave();
      }
    });

    it("deliver previous entries on request", async () => {
      const before = await subject.put("a", "1");
      const live = await subject.watch(everything, { previous: true });
      await subject.done(put("a", "2"), put("b", "1"));
      await subject.delete("a");
      await subject.put("a", "3");
      const history = await subject.watch(everything, { after: before, previous: true });
      for (const reader of [live, history]) {
        const batches = await reader.until(before + 3);
        expect(told(batches, before)).to.deep.equal(["1: a=2(1) b=1", "2: a-(2)", "3: a=3"]);
        expect(batches[1]?.events[0]?.previous).to.deep.include({ createRevision: before, modRevision: before + 1 });
        await reader.leave();
      }
      const plain = await subject.watch(everything, { after: before });
      expect(told(await plain.until(before + 3), before)).to.deep.equal(["1: a=2 b=1", "2: a-", "3: a=3"]);
      await plain.leave();
    });

    it("deliver nothing for transactions without changes", async () => {
      const reader = await subject.watch();
      const base = await subject.store.head();
      await subject.delete("absent");
      await subject.commit({ conditions: [{ key: "a", modRevision: 1 }], operations: [put("a", "1")] });
      await subject.put("b", "1");
      expect(told([await reader.next()], base)).to.deep.equal(["1: b=1"]);
      await reader.leave();
    });

    it("wait for a future revision", async () => {
      const base = await subject.store.head();
      const reader = await subject.watch(everything, { after: base + 2 });
      const next = reader.next();
      for (const value of ["1", "2", "3"]) await subject.put("a", value);
      expect(told([await next], base)).to.deep.equal(["3: a=3"]);
      await reader.leave();
    });

    it("join history and live events without gaps or duplicates, with 8 writers", async () => {
      const base = await subject.store.head();
      const [writers, writes] = [8, 40];
      const readers: Promise<string[]>[] = [];
      const follow = async (reader: Reader): Promise<string[]> => {
        const batches = [];
        while (reader.revision < base + writers * writes) batches.push(await reader.next());
        await reader.leave();
        return told(batches, base);
      };
      const write = async (writer: number): Promise<void> => {
        for (let count = 0; count < writes; count++) {
          await subject.put(`w/${writer}`, String(count));
          if (count % 8 === writer) readers.push(follow(await subject.watch(under("w/"), { after: base })));
        }
      };
      await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
      const [first, ...rest] = await Promise.all(readers);
      expect(rest).to.have.length((writers * writes) / 8 - 1);
      expect(first).to.have.length(writers * writes);
      for (const other of rest) expect(other).to.deep.equal(first);
      for (let writer = 0; writer < writers; writer++) {
        const own = first?.filter((line) => line.includes(` w/${writer}=`)).map((line) => line.replace(/.*=/, ""));
        expect(own).to.deep.equal(Array.from({ length: writes }, (_, count) => String(count)));
      }
    }).timeout(60_000);

    it("may run a hundred times concurrently", async () => {
      const base = await subject.store.head();
      const keys = Array.from({ length: 100 }, (_, index) => `k/${index}`);
      const readers = await Promise.all(keys.map((key) => subject.watch(under(`${key}/`))));
      const firsts = readers.map((reader) => reader.next());
      await subject.done(...keys.map((key) => put(`${key}/x`, key)));
      expect(told(await Promise.all(firsts), base)).to.deep.equal(keys.map((key) => `1: ${key}/x=${key}`));
      for (const reader of readers) await reader.leave();
    });
  });

  describe("a watch", () => {
    const subject = Subject.for(engine);

    it("ends when its signal aborts, even while a read waits", async () => {
      await subject.put("a", "1");
      const aborter = new AbortController();
      const waiting = await subject.watch(under("x"), { signal: aborter.signal });
      const lying = await subject.watch(everything, {
        after: (await subject.store.head()) - 1,
        signal: aborter.signal,
      });
      await lying.next();
      const end = waiting.read();
      aborter.abort();
      expect(await end).to.equal(undefined);
      expect(await waiting.read()).to.equal(undefined);
      expect(await lying.read()).to.equal(undefined);
      const late = await subject.watch(everything, { after: (await subject.store.head()) - 1, signal: aborter.signal });
      expect(await late.read(), "it had aborted before").to.equal(undefined);
    });

    it("ends when its reader leaves", async () => {
      const base = await subject.put("a", "1");
      await subject.put("a", "2");
      const seen = [];
      const watch = subject.store.watch(everything, { after: base - 1 });
      for await (const { revision } of watch) {
        seen.push(revision);
        break;
      }
      expect(seen).to.deep.equal([base]);
      const reader = await subject.watch(everything, { after: base - 1 });
      await reader.next();
      await reader.leave();
      expect(await reader.read()).to.equal(undefined);
      reader.requestProgress();
    });

    it("ends without affecting others", async () => {
      const aborter = new AbortController();
      const ended = await subject.watch(everything, { signal: aborter.signal });
      const left = await subject.watch();
      const going = await subject.watch();
      const [end, first] = [ended.read(), going.next()];
      aborter.abort();
      await left.leave();
      expect(await end).to.equal(undefined);
      const revision = await subject.put("a", "1");
      expect((await first).revision).to.equal(revision);
      await going.leave();
    });
  });
}
