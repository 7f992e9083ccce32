// Metadata of all kinds in key spaces with a common prefix, through a view.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import {
  lmdbStore,
  MetadataCollection,
  type MetadataOptions,
  memoryStore,
  persistent,
  type Store,
} from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { startPlain, type WatchStream } from "../../_support/plain.ts";
import { Note, Second } from "./notes.ts";

const FORM = "g=meta.k8s.io;v=v1";
const LIST = { headers: { accept: `application/json;as=PartialObjectMetadataList;${FORM}` } };
const WATCH = { headers: { accept: `application/json;as=PartialObjectMetadata;${FORM}` } };
const ALL = "/services/all/clusters/*/apis/test.dev/v1/notes";

async function start(store: Store, options: Partial<MetadataOptions> = {}) {
  const metadata = new MetadataCollection(Note, { store, keySpaces: "one-", ...options });
  const served = Note.serve(metadata, { verbs: ["list", "watch"] });
  const view = defineVirtualWorkspace({
    name: "all",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources: [],
    metadataOf: () => served,
  });
  const server = await startPlain([view]);
  return { server, metadata, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Notes in the first version, in a key space of their own. */
const notes = (store: Store, keySpace: string) => Note.collection(persistent(store, { keySpace }));

const described = async (watch: WatchStream): Promise<unknown[]> => {
  const { type, object } = await watch.next();
  const { name, annotations } = object.metadata ?? {};
  return [type, annotations?.["kcp.io/cluster"], name];
};

for (const engine of ["memory", "lmdb"] as const)
  describe(`metadata of all kinds with a common prefix, over ${engine}`, () => {
    let store: Store;
    let folder: Disposable | undefined;

    beforeEach(async () => {
      if (engine === "memory") store = memoryStore();
      else {
        const dir = tree({});
        folder = dir;
        store = await lmdbStore({ dir: dir.path });
      }
    });

    afterEach(async () => {
      await store[Symbol.asyncDispose]();
      folder?.[Symbol.dispose]();
    });

    it("is listed and watched at the store's versions, for any kinds at any time", async () => {
      const difficult = { annotations: { a: '}"{\\"', 'b"}': "\\", "c{": 'ü"}}' }, labels: { is: "odd" } };
      await notes(store, "one-a")
        .in("a")
        .set("x", { n: 1, big: "x".repeat(10_000) }, difficult);
      await Second.collection(persistent(store, { keySpace: "one-b" }))
        .in("b")
        .set("y", { count: 1 });
      await notes(store, "other-a").in("c").set("no", { n: 1 });
      await notes(store, "one").in("c").set("neither", { n: 1 });
      await using it = await start(store);
      const { server, metadata } = it;
      const { body } = await server.get(ALL, LIST);
      expect(body.metadata.resourceVersion).to.equal(String(await store.head()));
      expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).to.deep.equal(["x", "y"]);
      const [first] = body.items;
      expect(first.metadata.annotations).to.deep.equal({ ...difficult.annotations, "kcp.io/cluster": "a" });
      expect(first.metadata.uid).to.be.a("string");
      expect(Number(first.metadata.resourceVersion)).to.be.lessThan(Number(body.items[1].metadata.resourceVersion));
      {
        using lease = await metadata.cache();
        const kept = [...lease.cache.snapshot().objects.values()];
        expect(kept.map(({ length, bytes }) => length ?? bytes.length).every((bytes) => bytes < 1000)).to.equal(true);
        expect(kept.map(({ bytes }) => JSON.parse(bytes.toString()).apiVersion)).to.deep.equal([
          "test.dev/v1",
          "test.dev/v2",
        ]);
      }
      const from = `?watch=1&resourceVersion=${body.metadata.resourceVersion}`;
      await using watch = await server.watch(`${ALL}${from}`, WATCH);
      const late = notes(store, "one-c");
      await late.in("c").set("z", { n: 1 });
      await late.in("c").set("z", { n: 2 });
      await notes(store, "two-c").in("c").set("no", { n: 1 });
      await late.in("c").delete("z");
      for (const type of ["ADDED", "MODIFIED", "DELETED"])
        expect(await described(watch)).to.deep.equal([type, "c", "z"]);
      await using again = await server.watch(`${ALL}${from}`, WATCH);
      for (const type of ["ADDED", "MODIFIED", "DELETED"])
        expect(await described(again)).to.deep.equal([type, "c", "z"]);
    });

    it("supports selectors, pages, and watches with initial events", async () => {
      for (const [space, cluster] of [
        ["one-z", "a"],
        ["one-a", "b"],
      ] as const)
        for (const name of ["x", "y"])
          await notes(store, space)
            .in(cluster)
            .set(name, { n: 1 }, { labels: { of: name } });
      await using it = await start(store);
      const { server } = it;
      const names = async (query: string): Promise<[string[], string]> => {
        const { body } = await server.get(`${ALL}?${query}`, LIST);
        const all = body.items.map(({ metadata: { annotations, name } }: { metadata: never }) => [annotations, name]);
        return [all.map(([at, name]: [never, string]) => `${at["kcp.io/cluster"]}/${name}`), body.metadata.continue];
      };
      expect((await names("labelSelector=of=x"))[0]).to.deep.equal(["a/x", "b/x"]);
      expect((await names("fieldSelector=metadata.name=y"))[0]).to.deep.equal(["a/y", "b/y"]);
      const [page, next] = await names("limit=3");
      expect(page).to.deep.equal(["a/x", "a/y", "b/x"]);
      expect((await names(`limit=3&continue=${next}`))[0]).to.deep.equal(["b/y"]);
      expect((await server.get(`${ALL}?fieldSelector=spec.other=1`, LIST)).status).to.equal(400);
      await using watch = await server.watch(
        `${ALL}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1&labelSelector=of=y`,
        WATCH,
      );
      expect(await described(watch)).to.deep.equal(["ADDED", "a", "y"]);
      expect(await described(watch)).to.deep.equal(["ADDED", "b", "y"]);
      const { type, object } = await watch.next();
      expect([type, object.kind]).to.deep.equal(["BOOKMARK", "PartialObjectMetadata"]);
      expect(object.metadata.annotations).to.deep.equal({ "k8s.io/initial-events-end": "true" });
    });

    it("survives a restart of the server, with 410 before its history", async () => {
      const kept = notes(store, "one-a");
      await kept.in("a").set("x", { n: 1 });
      const before = await store.head();
      for (let n = 2; n < 6; n++) await kept.in("a").set("x", { n });
      {
        await using it = await start(store);
        await using watch = await it.server.watch(`${ALL}?watch=1&resourceVersion=${before}`, WATCH);
        for (let n = 2; n < 6; n++) expect(await described(watch)).to.deep.equal(["MODIFIED", "a", "x"]);
      }
      await using it = await start(store, { history: { events: 2 } });
      await using watch = await it.server.watch(`${ALL}?watch=1&resourceVersion=${before}`, WATCH);
      const { type, object } = await watch.next();
      expect([type, object.code]).to.deep.equal(["ERROR", 410]);
      const exact = await it.server.get(`${ALL}?resourceVersion=${before}&resourceVersionMatch=Exact`, LIST);
      expect(exact.status).to.equal(410);
    });

    it("shows the last of two objects with one name, and ignores the deletion of the other", async () => {
      const [older, newer] = [notes(store, "one-z"), notes(store, "one-a")];
      await older.in("a").set("x", { n: 1 }, { labels: { is: "older" } });
      await newer.in("a").set("x", { n: 1 }, { labels: { is: "newer" } });
      // Both exist before the first read.
      await store.compact(await store.head());
      await using it = await start(store);
      const { server } = it;
      const is = ({ metadata }: { metadata: { labels: { is: string } } }): string => metadata.labels.is;
      expect((await server.get(ALL, LIST)).body.items.map(is)).to.deep.equal(["newer"]);
      await using watch = await server.watch(`${ALL}?watch=1&resourceVersion=${await store.head()}`, WATCH);
      await older.in("a").set("x", { n: 2 }, { labels: { is: "older" } });
      const steps = [await watch.next(), await watch.next()];
      expect(steps.map(({ type, object }) => `${type} ${is(object as never)}`)).to.deep.equal([
        "DELETED newer",
        "ADDED older",
      ]);
      await newer.in("a").delete("x");
      await newer.in("a").set("y", { n: 1 });
      expect(await described(watch)).to.deep.equal(["ADDED", "a", "y"]);
      await older.in("a").delete("x");
      expect(await described(watch)).to.deep.equal(["DELETED", "a", "x"]);
      expect((await server.get(ALL, LIST)).body.items).to.have.length(1);
    });

    it("rejects an invalid prefix, and names an unreadable entry", async () => {
      for (const keySpaces of ["", "-a", "A", "a/"])
        expect(() => new MetadataCollection(Note, { store, keySpaces })).to.throw(RangeError, "invalid keySpaces ");
      await store.commit({
        conditions: [],
        operations: [{ type: "put", key: "@one-a/root//x", value: Buffer.from("x") }],
      });
      const errors: string[] = [];
      await using it = await start(store, { onError: (error) => void errors.push(String(error)) });
      const { status, body } = await it.server.get(ALL, LIST);
      expect([status, body.message]).to.deep.equal([
        500,
        "Internal error occurred: the stored object root/x is unreadable",
      ]);
      expect(errors).to.deep.equal(["StoreError: the stored object root/x is unreadable"]);
    });
  });
