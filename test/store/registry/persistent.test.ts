// Objects in a store, as clients and authors of views see them.
import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { PlainServer } from "../../_support/plain.ts";
import { ALL_NOTES, MEMOS, NOTES, Note, note, serve, startNotes, versionOf } from "./notes.ts";

describe("objects in a store", () => {
  let store: Store;
  let server: PlainServer;

  beforeEach(async () => {
    store = memoryStore();
    server = await startNotes(store);
  });

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  it("have the store's revisions, shared by all kinds", async () => {
    const first = await server.send(`POST ${NOTES}`, note("a", 1));
    expect(first.status).to.equal(201);
    const memo = await server.send(`POST ${MEMOS}`, {
      apiVersion: "test.dev/v1",
      kind: "Memo",
      metadata: { name: "m" },
    });
    const second = await server.send(`POST ${NOTES}`, note("b", 2));
    const versions = [first, memo, second].map(({ body }) => Number(body.metadata.resourceVersion));
    const head = await store.head();
    expect(versions).to.deep.equal([head - 2, head - 1, head]);
    await server.send(
      `PATCH ${MEMOS}/m`,
      { text: "x" },
      { headers: { "content-type": "application/merge-patch+json" } },
    );
    expect(await versionOf(server)).to.equal(String(head + 1));
  });

  it("are returned as they were sent, by every kind of read", async () => {
    const metadata = { name: "odd", labels: { a: "b" }, annotations: { "x.dev/q": '"resourceVersion":"1",\\é\u2028' } };
    const { body } = await server.send(`POST ${NOTES}`, { ...note("odd", 1, '{"metadata":{'), metadata });
    expect(body.metadata.annotations).to.deep.equal({ ...metadata.annotations, "kcp.io/cluster": "root" });
    expect(body.metadata.resourceVersion).to.equal(String(await store.head()));
    await using watch = await server.watch(`${NOTES}?watch=true`);
    const list = await server.get(`${ALL_NOTES}?labelSelector=a=b&fieldSelector=spec.n=1`);
    for (const read of [(await server.get(`${NOTES}/odd`)).body, (await watch.next()).object, list.body.items[0]]) {
      expect({ ...read, apiVersion: "test.dev/v1", kind: "Note" }).to.deep.equal(body);
    }
  });

  it("of one logical cluster are separate from others", async () => {
    const other = "/services/notes/clusters/other/apis/test.dev/v1/notes";
    await server.send(`POST ${NOTES}`, note("a", 1));
    await server.send(`POST ${other}`, note("a", 2));
    expect((await server.get(`${NOTES}/a`)).body.spec).to.deep.equal({ n: 1 });
    expect((await server.get(other)).body.items).to.have.length(1);
    expect((await server.get(ALL_NOTES)).body.items).to.have.length(2);
    await server.send(`DELETE ${other}/a`);
    expect((await server.get(`${NOTES}/a`)).status).to.equal(200);
  });

  it("are writable by the author's code like a collection, with promises", async () => {
    const here = Note.collection(persistent(store)).in("root");
    await using watch = await server.watch(`${NOTES}?watch=true`);
    const set = await here.set("a", { n: 1 }, { labels: { x: "y" } });
    expect(set.metadata).to.include({ name: "a", generation: 1, resourceVersion: String(await store.head()) });
    expect((await here.set("a", { n: 1 })).metadata.resourceVersion).to.equal(set.metadata.resourceVersion);
    await here.setStatus("a", { seen: 1 });
    expect(await here.get("a")).to.deep.include({ spec: { n: 1 }, status: { seen: 1 } });
    expect((await here.list()).map(({ metadata }) => metadata.name)).to.deep.equal(["a"]);
    expect(await here.delete("a")).to.equal(true);
    expect(await here.delete("a")).to.equal(false);
    expect(await here.get("a")).to.equal(undefined);
    expect(await watch.take(3)).to.deep.equal(["ADDED a", "MODIFIED a", "DELETED a"]);
    const refused = await here.setStatus("a", { seen: 1 }).catch((error: unknown) => error);
    expect(refused).to.include({ code: 404 });
    expect(await here.set("B!", { n: 1 }).catch((error: unknown) => error)).to.include({ code: 422 });
  });

  it("lose no update of concurrent writers", async () => {
    const authors = [1, 2, 3].map(() => Note.collection(persistent(store)).in("root"));
    await authors[0]?.set("sum", { n: 0 });
    const add = async (author: (typeof authors)[number]): Promise<void> => {
      for (let at = 0; at < 20; at++) {
        const before = await author.get("sum");
        await author.setStatus("sum", { seen: (before?.status?.seen ?? 0) + 1 });
      }
    };
    const patch = async (at: number): Promise<number> => {
      const body = { metadata: { annotations: { [`client-${at}`]: "was here" } } };
      const headers = { "content-type": "application/merge-patch+json" };
      return (await server.send(`PATCH ${NOTES}/sum`, body, { headers })).status;
    };
    const [statuses] = await Promise.all([
      Promise.all(Array.from({ length: 30 }, (_, at) => patch(at))),
      ...authors.map(add),
    ]);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    const { annotations = {} } = (await authors[0]?.get("sum"))?.metadata ?? {};
    expect(Object.keys(annotations)).to.have.length(31);
  });

  it("are rejected above 3 MiB; larger existing ones may shrink, be marked and be deleted", async () => {
    const big = "x".repeat(2.9 * 2 ** 20);
    expect((await server.send(`POST ${NOTES}`, note("big", 1, big))).status).to.equal(201);
    const here = Note.collection(persistent(store)).in("root");
    await here.set("big", { n: 1, big: big + big.slice(0, 2 ** 20) }, { finalizers: ["test.dev/held"] });
    const merge = { headers: { "content-type": "application/merge-patch+json" } };
    const grown = await server.send(`PATCH ${NOTES}/big`, { metadata: { labels: { a: "b" } } }, merge);
    expect([grown.status, grown.body.reason]).to.deep.equal([413, "RequestEntityTooLarge"]);
    expect((await server.send(`DELETE ${NOTES}/big`)).status).to.equal(200);
    const freed = await server.send(`PATCH ${NOTES}/big`, { metadata: { finalizers: null } }, merge);
    expect(freed.status).to.equal(200);
    expect((await server.get(`${NOTES}/big`)).status).to.equal(404);
  });

  it("have bookmarks that advance while only other kinds are written", async () => {
    await using quick = await startNotes(store, { progressEvery: 5 }, { bookmarkEvery: 10 });
    await using watch = await quick.watch(`${NOTES}?watch=true&allowWatchBookmarks=true`);
    const memo = { apiVersion: "test.dev/v1", kind: "Memo", metadata: { name: "m" } };
    const { metadata } = (await quick.send(`POST ${MEMOS}`, memo)).body;
    const events = await watch.until(({ object }) => object.metadata.resourceVersion === metadata.resourceVersion);
    expect(new Set(events.map(({ type }) => type))).to.deep.equal(new Set(["BOOKMARK"]));
  });

  it("expire after their time to live", async () => {
    await using brief = await serve([Note.serve(Note.collection(persistent(store, { ttl: 1 })))]);
    const { body } = await brief.send(`POST ${NOTES}`, note("brief", 1));
    await using watch = await brief.watch(`${NOTES}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
    const { type, object } = await watch.next();
    expect([type, object.metadata.name]).to.deep.equal(["DELETED", "brief"]);
    expect(Number(object.metadata.resourceVersion)).to.equal(Number(body.metadata.resourceVersion) + 1);
    expect((await brief.get(`${NOTES}/brief`)).status).to.equal(404);
    expect(() => persistent(store, { ttl: 0.5 })(Note)).to.throw(RangeError, "use at least 1 second");
  });
});
