// Objects that a collection keeps as their differences from similar ones, without visible effects.
import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import fc from "fast-check";
import { ALL_NOTES, NOTES, Note, startNotes } from "./notes.ts";

/** Texts with the same structure that differ in a few values, and others. */
const text = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.stringMatching(/^[a-zé"\\]{0,30}$/), fc.nat()).map(([own, n]) => `{"a":"${own}","b":${n}}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 600 }).map((any) => any.toWellFormed()) },
  { weight: 1, arbitrary: fc.constant("x".repeat(20_000)) },
);
const written = fc.array(fc.tuple(fc.constantFrom("c1", "c2"), fc.nat(60), fc.nat(999), text), { maxLength: 60 });

describe("similar objects of a store", () => {
  let store: Store;
  beforeEach(() => {
    store = memoryStore();
  });
  afterEach(async () => {
    await store[Symbol.asyncDispose]();
  });

  it("are listed byte for byte as they were written, whether they were read or watched", async () => {
    const property = fc.asyncProperty(written, written, async (before, after) => {
      await using own = memoryStore();
      const write = async (all: typeof before): Promise<void> => {
        for (const [cluster, name, n, big] of all)
          await Note.collection(persistent(own)).in(cluster).set(`n${name}`, { n, big });
      };
      await write(before);
      const notes = Note.collection(persistent(own, { similar: true }));
      using lease = await notes.cache();
      await write(after);
      await lease.confirm({ signal: AbortSignal.timeout(5_000) });
      const shown = [...lease.cache.snapshot().objects.entries()].map(([, { bytes }]) => bytes.toString());
      const stored: string[] = [];
      for (const cluster of ["c1", "c2"])
        for await (const { bytes } of notes.objectsIn({ cluster, namespace: "" })) stored.push(bytes.toString());
      expect(shown.sort()).to.deep.equal(stored.sort());
      for (const [, { bytes, text }] of lease.cache.snapshot().objects.entries())
        expect(text ?? bytes.toString()).to.equal(bytes.toString());
    });
    await fc.assert(property, { numRuns: 40 });
  });

  it("do not keep their bytes", async () => {
    const part = Note.collection(persistent(store)).in("root");
    for (let n = 0; n < 40; n++) await part.set(`n${n}`, { n, big: `${n}`.padStart(300, "-") });
    using lease = await Note.collection(persistent(store, { similar: true })).cache();
    const read = (): Buffer[] => [...lease.cache.snapshot().objects.entries()].map(([, { bytes }]) => bytes);
    const [first, second] = [read(), read()];
    const kept = first.filter((bytes, at) => bytes === second[at]);
    expect(kept).to.have.length(1);
  });

  it("have the uid, version, labels and fields of other objects", async () => {
    const part = Note.collection(persistent(store)).in("root");
    for (let n = 0; n < 9; n++) await part.set(`n${n}`, { n, big: `${n}`.padStart(300, "-") });
    const routing = async (similar: boolean): Promise<unknown> => {
      using lease = await Note.collection(persistent(store, { similar })).cache();
      return [...lease.cache.snapshot().objects.entries()].map(([, object]) => {
        const { key, uid, resourceVersion, labels, fields } = object;
        return { key, uid, resourceVersion, labels: { ...labels }, fields: { ...fields } };
      });
    };
    expect(await routing(true)).to.deep.equal(await routing(false));
  });

  it("are text without bytes if they are ASCII", async () => {
    const part = Note.collection(persistent(store)).in("root");
    for (let n = 0; n < 9; n++) await part.set(`n${n}`, { n, big: `${n < 6 ? n : "é"}`.padStart(300, "-") });
    using lease = await Note.collection(persistent(store, { similar: true })).cache();
    const texts = [...lease.cache.snapshot().objects.entries()].map(([, { text }]) => text !== undefined);
    expect(texts).to.deep.equal([false, true, true, true, true, true, false, false, false]);
  });

  it("have the events of other objects", async () => {
    const events = async (similar: boolean): Promise<string> => {
      await using own = memoryStore();
      await using server = await startNotes(own, { similar });
      const part = Note.collection(persistent(own)).in("root");
      const at = String(await own.head());
      await using watch = await server.watch(`${ALL_NOTES}?watch=true&resourceVersion=${at}&fieldSelector=spec.n=7`);
      for (const n of [7, 8, 7, 9]) await part.set("a", { n, big: "x".repeat(400) });
      await part.set("b", { n: 7, big: "x".repeat(399) });
      await part.delete("b");
      const seen: unknown[] = [];
      while (seen.length < 6) seen.push(await watch.next());
      const { body } = await server.get(NOTES);
      return JSON.stringify([seen, body]).replace(/[0-9a-f-]{36}|"\d{4}-[^"]*Z"|"\d{9,}"/g, "");
    };
    expect(await events(true)).to.equal(await events(false));
  });
});
