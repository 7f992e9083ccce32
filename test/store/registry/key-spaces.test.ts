// Several kinds with one group and plural in one store.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { everyField, everyLabel } from "@virtual-workspaces/apimachinery/selectors";
import { keySpaces, memoryStore, persistent, removeKeySpace, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Note } from "./notes.ts";

describe("key spaces of a store", () => {
  let store: Store;

  beforeEach(() => {
    store = memoryStore();
  });

  afterEach(async () => {
    await store[Symbol.asyncDispose]();
  });

  const notes = (keySpace?: string) => Note.collection(persistent(store, keySpace === undefined ? {} : { keySpace }));
  const names = async (of: ReturnType<typeof notes>): Promise<(string | undefined)[]> =>
    (await of.in("root").list()).map(({ metadata }: KubeObject) => metadata.name);

  const all = async (prefix: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const name of keySpaces(store, prefix)) found.push(name);
    return found;
  };

  it("separate objects of one kind in reads, lists and watches", async () => {
    const [plain, a, ab] = [notes(), notes("a"), notes("a.b")];
    for (const [of, name] of [
      [plain, "p"],
      [a, "a"],
      [ab, "ab"],
    ] as const)
      await of.in("root").set(name, { n: 1 });
    expect(await Promise.all([plain, a, ab].map(names))).to.deep.equal([["p"], ["a"], ["ab"]]);
    expect(await a.in("root").get("p")).to.equal(undefined);
    using lease = await a.cache();
    const seen: string[] = [];
    using _listening = lease.cache.listen({ event: ({ key }) => void seen.push(key.name), expired: () => undefined });
    await ab.in("root").set("other", { n: 2 });
    await a.in("root").set("own", { n: 2 });
    await lease.confirm({ signal: AbortSignal.timeout(5000) });
    expect(seen).to.deep.equal(["own"]);
    expect(await names(notes("a"))).to.deep.equal(["a", "own"]);
  });

  it("are listed by prefix, and deleted as a whole", async () => {
    for (const name of ["crd-1", "crd-2", "crd", "other"]) await notes(name).in("root").set("x", { n: 1 });
    const many = notes("crd-2");
    for (let at = 0; at < 300; at++) await many.in(`c${at % 7}`).set(`n${at}`, { n: at });
    expect(await all("crd-")).to.deep.equal(["crd-1", "crd-2"]);
    expect(await removeKeySpace(store, "crd-2")).to.equal(301);
    expect(await removeKeySpace(store, "crd-2")).to.equal(0);
    expect(await all("")).to.deep.equal(["crd-1", "crd", "other"]);
    const scope = { params: {}, cluster: "root", namespace: "", labels: everyLabel, fields: everyField };
    const identity = { name: "a", uid: "", groups: [], extra: {} };
    const key = { cluster: "root", namespace: "", name: "x" };
    expect(await many.get({ ...scope, identity }, key)).to.equal(undefined);
    expect(await names(notes("crd-1"))).to.deep.equal(["x"]);
  });

  it("have names that cannot overlap", () => {
    for (const name of ["", "a/b", "A", "@a", "-a", "a-", "a".repeat(254), "a\0b"])
      expect(() => notes(name), name).to.throw(RangeError, "invalid keySpace ");
  });
});
