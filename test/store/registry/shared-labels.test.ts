// Objects with equal labels share them in memory, without visible effects.
import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { Answer } from "../../_support/plain.ts";
import { NOTES, Note, serve } from "./notes.ts";

const MANY = 300;

describe("labels of objects in a store", () => {
  let store: Store;
  beforeEach(() => {
    store = memoryStore();
  });
  afterEach(async () => {
    await store[Symbol.asyncDispose]();
  });

  it("are shared in memory if equal, and separate for all readers", async () => {
    const part = Note.collection(persistent(store)).in("root");
    for (let n = 0; n < MANY; n++) await part.set(`n${n}`, { n }, { labels: { all: "a-b", own: String(n) } });
    for (const name of ["a", "b", "c"]) await part.set(name, { n: 7 }, { labels: { color: "blue" } });
    await part.set("none", { n: 7 });
    // A server that starts reads all objects.
    const notes = Note.collection(persistent(store));
    await using server = await serve([Note.serve(notes)]);
    using lease = await notes.cache();
    const labelsOf = (name: string): object | undefined =>
      lease.cache.get({ cluster: "root", namespace: "", name })?.labels;
    expect(labelsOf("a")).to.equal(labelsOf("b")).and.to.deep.equal({ color: "blue" });
    expect(labelsOf("none")).to.deep.equal({});
    const found = async (query: string): Promise<string[]> => namesIn(await server.get(`${NOTES}?${query}`));
    for (const n of [0, 255, 256, 299]) expect(await found(`labelSelector=own=${n}`)).to.deep.equal([`n${n}`]);
    expect(await found(`labelSelector=all=${encodeURIComponent("a-b")}`)).to.have.length(MANY);
    expect(await found("labelSelector=color=blue")).to.deep.equal(["a", "b", "c"]);
    expect(await found("labelSelector=color=blue&fieldSelector=spec.n=7,metadata.name=b")).to.deep.equal(["b"]);
    await notes.in("root").set("a", { n: 7 }, { labels: { color: "red" } });
    expect(await found("labelSelector=color=blue")).to.deep.equal(["b", "c"]);
    expect(await found("labelSelector=color=red")).to.deep.equal(["a"]);
  });
});

function namesIn({ status, text, body }: Answer): string[] {
  expect(status, text).to.equal(200);
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}
