import type { Entry, RangeResult } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Engine, everything, put, refused, Subject, shown, thrown, under } from "./subject.ts";

const KEYS = [
  "a",
  "a\u0000",
  "a/",
  "a/b",
  "a0",
  "aa",
  "b",
  "é",
  "\uD7FF",
  "\uE000",
  "\uFFFD",
  "\uFFFF",
  "\u{10000}",
  "\u{1F600}",
  "\u{10FFFF}",
];
const REVERSED_PAIRS = ["\uFFFF", "\u{10000}", "x\uFFFF", "x\u{10000}", "\u{10000}\uFFFF", "\u{10000}\u{10000}"];

export function describeReading(engine: Engine): void {
  describe("reads", () => {
    const subject = Subject.for(engine);

    it("find a revision and no entries in an empty store", async () => {
      const { store } = subject;
      expect(await store.head()).to.be.at.least(1);
      expect(await store.get("a")).to.equal(undefined);
      expect(await store.range(everything)).to.deep.equal({ entries: [], revision: await store.head(), more: false });
      expect(store.name).to.be.a("string").that.is.not.empty;
    });

    it("find a put entry, with its revisions", async () => {
      const first = await subject.put("a", "1");
      expect(await subject.at("a")).to.deep.equal({ key: "a", value: "1", createRevision: first, modRevision: first });
      const second = await subject.put("a", "2");
      expect(second).to.equal(first + 1);
      expect(await subject.at("a")).to.deep.equal({ key: "a", value: "2", createRevision: first, modRevision: second });
      const { entries, revision, more } = await subject.store.range(everything);
      expect(entries.map(shown)).to.deep.equal([{ key: "a", value: "2", createRevision: first, modRevision: second }]);
      expect([revision, more]).to.deep.equal([second, false]);
      expect(await subject.store.head()).to.equal(second);
    });

    it("return Buffers of any bytes, also empty ones", async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      await subject.done(put("bytes", bytes), put("none", ""), put("array", new Uint8Array([1, 2])));
      expect(await subject.store.get("bytes"))
        .to.have.property("value")
        .that.deep.equals(bytes);
      expect(await subject.store.get("none"))
        .to.have.property("value")
        .that.deep.equals(Buffer.alloc(0));
      expect(await subject.store.get("array"))
        .to.have.property("value")
        .that.deep.equals(Buffer.from([1, 2]));
      const { entries } = await subject.store.range(everything);
      for (const { value } of entries) expect(Buffer.isBuffer(value)).to.equal(true);
    });

    it("find a new createRevision for a key that was created again", async () => {
      const first = await subject.put("a", "1");
      const gone = await subject.delete("a");
      expect(gone).to.equal(first + 1);
      expect(await subject.at("a")).to.equal(undefined);
      const again = await subject.put("a", "2");
      expect(await subject.at("a")).to.deep.equal({ key: "a", value: "2", createRevision: again, modRevision: again });
    });

    it("return keys in the order of their UTF-8 bytes", async () => {
      const keys = [...KEYS, ...REVERSED_PAIRS.filter((key) => !KEYS.includes(key))];
      for (const key of keys.toReversed()) await subject.put(key, "");
      const { entries } = await subject.store.range(everything);
      const ordered = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(ordered, "the cases tell the orders apart").to.not.deep.equal(keys.toSorted());
      expect(entries.map(({ key }) => key)).to.deep.equal(ordered);
    });

    it("include the first key of a range and not the last, by UTF-8 bytes", async () => {
      await subject.done(...["a", "b", "c", "\uFFFF", "\u{10000}"].map((key) => put(key, "")));
      const keys = async (from: string, to: string): Promise<string[]> =>
        (await subject.store.range({ from, to })).entries.map(({ key }) => key);
      expect(await keys("a", "c")).to.deep.equal(["a", "b"]);
      expect(await keys("a\u0000", "c\u0000")).to.deep.equal(["b", "c"]);
      expect(await keys("c", "\u{10000}")).to.deep.equal(["c", "\uFFFF"]);
      expect(await keys("\u{10000}", "\uFFFF")).to.deep.equal([]);
      expect(await keys("\u{10000}", "\u{10FFFF}")).to.deep.equal(["\u{10000}"]);
      expect(await keys("b", "b")).to.deep.equal([]);
      expect(await keys("c", "a")).to.deep.equal([]);
      expect(await keys("d", "e")).to.deep.equal([]);
      expect(await keys("", "b")).to.deep.equal(["a"]);
    });

    it("return a range at any past revision", async () => {
      const before = await subject.store.head();
      await subject.put("a", "1");
      await subject.put("b", "1");
      await subject.put("a", "2");
      await subject.delete("b");
      await subject.put("b", "2");
      await subject.delete("a");
      const states = [];
      for (let revision = before; revision <= before + 6; revision++)
        states.push((await subject.list(everything, revision)).join());
      expect(states).to.deep.equal(["", "a=1", "a=1,b=1", "a=2,b=1", "a=2", "a=2,b=2", "b=2"]);
      const { entries, revision } = await subject.store.range(everything, { revision: before + 5 });
      expect(revision).to.equal(before + 5);
      expect(entries.map(shown)).to.deep.equal([
        { key: "a", value: "2", createRevision: before + 1, modRevision: before + 3 },
        { key: "b", value: "2", createRevision: before + 5, modRevision: before + 5 },
      ]);
    });

    it("reject a future revision", async () => {
      const head = await subject.put("a", "1");
      await refused("Future", () => subject.store.range(everything, { revision: head + 1 }));
    });

    it("stop at a limit and report it", async () => {
      await subject.done(...["a", "b", "c"].map((key) => put(key, key)));
      const page = async (limit: number): Promise<string> => {
        const { entries, more } = await subject.store.range(everything, { limit });
        return `${entries.map(({ key }) => key).join("")}${more ? "…" : ""}`;
      };
      expect([await page(1), await page(2), await page(3), await page(4)]).to.deep.equal(["a…", "ab…", "abc", "abc"]);
      await subject.delete("c");
      expect(await page(2), "what is deleted is not more").to.equal("ab");
    });

    it("return consistent pages at one revision during writes", async () => {
      const keys = Array.from({ length: 100 }, (_, index) => `p/${String(index).padStart(3, "0")}`);
      await subject.done(...keys.map((key) => put(key, "old")));
      const entries: Entry[] = [];
      let page: RangeResult | undefined;
      let revision: number | undefined;
      do {
        const from = page === undefined ? "p/" : `${page.entries.at(-1)?.key}\u0000`;
        page = await subject.store.range({ from, to: "p0" }, { limit: 7, ...(revision && { revision }) });
        revision ??= page.revision;
        expect(page.revision).to.equal(revision);
        entries.push(...page.entries);
        const at = entries.length;
        await subject.done(put(`p/${at}`, "new"), { type: "delete", key: keys[at + 2] ?? "x" });
        await subject.put(keys[at] ?? "y", "new");
      } while (page.more);
      expect(entries.map(({ key, value }) => `${key}=${value}`)).to.deep.equal(keys.map((key) => `${key}=old`));
    });

    it("separate ranges by prefix", async () => {
      await subject.done(...["x/1", "x/2", "x0", "y/1"].map((key) => put(key, "")));
      expect(await subject.list(under("x/"))).to.deep.equal(["x/1=", "x/2="]);
    });

    it("see everything that was acknowledged before, with many writers", async () => {
      await Promise.all(
        Array.from({ length: 16 }, async (_, writer) => {
          for (let count = 0; count < 10; count++) {
            const revision = await subject.put(`w/${writer}`, String(count));
            const [entry, range, head] = await Promise.all([
              subject.store.get(`w/${writer}`),
              subject.store.range({ from: `w/${writer}`, to: `w/${writer}\u0000` }),
              subject.store.head(),
            ]);
            expect(entry?.modRevision).to.equal(revision);
            expect(range.entries[0]?.modRevision).to.equal(revision);
            expect(range.revision).to.be.at.least(revision);
            expect(head).to.be.at.least(revision);
          }
        }),
      );
    });

    it("end at once if the signal has aborted", async () => {
      const reason = new Error("given up");
      const signal = AbortSignal.abort(reason);
      expect(await thrown(() => subject.store.head({ signal }))).to.equal(reason);
      expect(await thrown(() => subject.store.get("a", { signal }))).to.equal(reason);
      expect(await thrown(() => subject.store.range(everything, { signal }))).to.equal(reason);
    });
  });
}
