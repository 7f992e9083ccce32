import { expect } from "chai";
import { Reader } from "./reader.ts";
import { type Engine, everything, put, refused, Subject } from "./subject.ts";

const MEBIBYTE = 1024 * 1024;

export function describeValues(engine: Engine): void {
  describe("limits", () => {
    const subject = Subject.for(engine);
    const largest = engine.largestValue ?? 8 * MEBIBYTE;

    it("allow keys up to 1024 bytes in UTF-8", async () => {
      const longest = ["k".repeat(1024), "é".repeat(512), "€".repeat(341), "\u{1F600}".repeat(256)];
      for (const key of longest) {
        await subject.put(key, "v");
        expect((await subject.at(key))?.value).to.equal("v");
      }
      expect(await subject.list()).to.have.length(longest.length);
      for (const key of ["k".repeat(1025), "é".repeat(513), "€".repeat(342), "\u{1F600}".repeat(257)]) {
        await refused("TooLarge", () => subject.put(key, "v"));
        await refused("TooLarge", () => subject.delete(key));
        await refused("TooLarge", () => subject.commit({ conditions: [{ key, modRevision: 0 }], operations: [] }));
      }
    });

    it("let reads of invalid keys find nothing", async () => {
      await subject.put("a\uFFFD", "v");
      for (const key of ["", "k".repeat(5000), "a\uD800"]) expect(await subject.at(key)).to.equal(undefined);
    });

    it("reject malformed bounds of ranges", async () => {
      for (const range of [
        { from: "a\uD800", to: "b" },
        { from: "a", to: "\uDC00" },
      ]) {
        await refused("Invalid", () => subject.store.range(range));
        await refused("Invalid", () => new Reader(subject.store.watch(range, { after: 1 })).next());
      }
    });

    it("allow values up to the engine's size, and no larger", async () => {
      const bytes = Buffer.alloc(largest, "0123456789abcdef");
      await subject.put("large", bytes);
      expect((await subject.store.get("large"))?.value.equals(bytes)).to.equal(true);
      const reader = new Reader(subject.store.watch(everything, { after: (await subject.store.head()) - 1 }));
      const [event] = (await reader.next()).events;
      expect(event?.entry?.value.equals(bytes)).to.equal(true);
      await reader.leave();
      const head = await subject.store.head();
      await refused("TooLarge", () => subject.put("larger", Buffer.alloc(8 * MEBIBYTE + 1)));
      expect(await subject.store.head()).to.equal(head);
    });

    it("allow transactions of up to 128 operations, and as many conditions", async () => {
      const operations = Array.from({ length: 129 }, (_, index) => put(`k${index}`, "v"));
      await refused("TooLarge", () => subject.done(...operations));
      const conditions = operations.map(({ key }) => ({ key, modRevision: 0 }));
      await refused("TooLarge", () => subject.commit({ conditions, operations: [] }));
      expect(await subject.list()).to.deep.equal([]);
    });

    it("allow only valid integers as limits and revisions of reads", async () => {
      for (const limit of [0, -1, 1.5, Number.NaN])
        await refused("Invalid", () => subject.store.range(everything, { limit }));
      for (const revision of [0, -1, 1.5, Number.NaN])
        await refused("Invalid", () => subject.store.range(everything, { revision }));
      for (const after of [-1, 1.5, Number.NaN])
        await refused("Invalid", () => new Reader(subject.store.watch(everything, { after })).next());
      for (const revision of [-1, 1.5, Number.NaN]) await refused("Invalid", () => subject.store.compact(revision));
    });
  });

  describe("values", () => {
    const subject = Subject.for(engine);

    it("are copied by put", async () => {
      const bytes = Buffer.from("before");
      const reader = new Reader(subject.store.watch(everything, { after: await subject.store.head() }));
      const done = subject.put("a", bytes);
      bytes.fill("x");
      await done;
      bytes.fill("y");
      expect((await subject.at("a"))?.value).to.equal("before");
      expect((await reader.next()).events[0]?.entry?.value.toString()).to.equal("before");
      await reader.leave();
    });

    it("belong to the caller", async () => {
      const first = await subject.put("a", "before");
      await subject.put("a", "after");
      const spoil = async (): Promise<string[]> => {
        const watching = () => new Reader(subject.store.watch(everything, { after: first - 1, previous: true }));
        const readers = [watching(), watching()];
        const batches = [];
        for (const reader of readers) batches.push(await reader.next(), await reader.next());
        const missed = await subject.commit({ conditions: [{ key: "a", modRevision: 0 }], operations: [] });
        const values = [
          (await subject.store.get("a"))?.value,
          ...(await subject.store.range(everything)).entries.map(({ value }) => value),
          ...(await subject.store.range(everything, { revision: first })).entries.map(({ value }) => value),
          ...(missed.committed ? [] : missed.current.map((entry) => entry?.value)),
          ...batches.flatMap(({ events }) => events.flatMap(({ entry, previous }) => [entry?.value, previous?.value])),
        ].filter((value) => value !== undefined);
        const texts = values.map(String);
        for (const value of values) value.fill("#");
        for (const reader of readers) await reader.leave();
        return texts;
      };
      const told = ["before", "after", "before"];
      const expected = ["after", "after", "before", "after", ...told, ...told];
      expect(await spoil()).to.deep.equal(expected);
      expect(await spoil(), "after all of them were overwritten").to.deep.equal(expected);
    });
  });
}
