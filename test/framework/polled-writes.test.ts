// Writes of clients to a source outside: they take turns with its reads, see what it has, and answer with what it has stored.
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  allow,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  polled,
  type SetupContext,
  type SourceObject,
  view,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { APPLY, MERGE } from "../_support/patches.ts";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";
import { until, untilAnswer } from "../_support/until.ts";
import { BOOKS, Book, book, Outside, sent, serving } from "./polled-outside.ts";

type Books = Collection<{ spec: { title: string; pages?: number }; status?: { lent?: boolean } }>;

interface Library extends PlainServer {
  readonly collection: Books;
  readonly errors: readonly string[];
  readonly scan: () => Promise<void>;
}

/** Serves a source that is read once at the start, and then by hand. */
async function open(outside: Outside, { byOne = true } = {}): Promise<Library> {
  const { read, write, remove } = outside;
  const readOne: Outside["readOne"] = (key) => outside.readOne(key);
  const errors: string[] = [];
  const collection: Books = Book.collection();
  const onError = (error: unknown): void => void errors.push(String(error));
  const options = { collection, cluster: "root", every: 3_600_000, read, write, remove, onError };
  const books = polled({ ...options, ...(byOne && { readOne }) });
  const lens = view({ from: books, select: ({ spec }) => spec.title !== "Secret", mapToSource: (object) => object });
  const lensed = defineVirtualWorkspace({
    ...{ name: "lens", path: "/clusters/:cluster", authorize: () => allow(), ready: books.ready },
    resources: [Book.serve(lens)],
  });
  const server = await startPlain([serving(books), lensed]);
  await untilAnswer(
    () => server.get(BOOKS),
    ({ status }) => status === 200,
  );
  outside.calls.length = 0;
  return { ...server, collection, errors, scan: () => books.scan() };
}

describe("writes to polled sources", () => {
  for (const byOne of [true, false]) {
    it(`answer with what the source has stored, ${byOne ? "read by itself" : "read with all others"}`, async () => {
      const outside = new Outside(book("z"));
      outside.store = ({ metadata, spec }) => ({ metadata, spec: { ...spec, title: spec.title.trim() } });
      await using server = await open(outside, { byOne });
      await using watch = await server.watch(`${BOOKS}?watch=true`);
      expect(await watch.take(1)).to.deep.equal(["ADDED z"]);
      const created = await server.send(`POST ${BOOKS}`, sent("a", " Dune ", { labels: { x: "1" } }));
      expect([created.status, created.body.spec]).to.deep.equal([201, { title: "Dune" }]);
      expect(outside.books.get("a")).to.deep.equal({
        metadata: { name: "a", labels: { x: "1" } },
        spec: { title: "Dune" },
      });
      expect((await server.send(`POST ${BOOKS}`, sent("a"))).status).to.equal(409);
      const patched = await server.send(`PATCH ${BOOKS}/a`, { spec: { title: "Emma " } }, MERGE);
      expect([patched.status, patched.body.spec]).to.deep.equal([200, { title: "Emma" }]);
      const { uid, creationTimestamp, generation } = created.body.metadata;
      expect(patched.body.metadata).to.include({ uid, creationTimestamp });
      expect(patched.body.metadata.generation).to.be.above(generation);
      const same = await server.send(`PATCH ${BOOKS}/a`, { spec: { title: "Emma" } }, MERGE);
      expect(same.body).to.deep.equal(patched.body);
      await server.scan();
      expect((await server.get(`${BOOKS}/a`)).body).to.deep.equal(patched.body);
      expect((await server.send(`DELETE ${BOOKS}/a`)).status).to.equal(200);
      expect([...outside.books.keys()]).to.deep.equal(["z"]);
      expect(await watch.take(3)).to.deep.equal(["ADDED a", "MODIFIED a", "DELETED a"]);
      const read = byOne ? "read a" : "read";
      const write = [read, "write a", read];
      const [taken, changed, unchanged, deleted] = [[read, read], [read, ...write], [read], [read, read, "remove a"]];
      const calls = [...write, ...taken, ...changed, ...unchanged, "read", ...deleted];
      expect(outside.calls).to.deep.equal(calls);
      expect(outside.most).to.equal(1);
    });
  }

  it("wait for a read under way, which neither deletes what they create nor brings back what they delete", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    await using watch = await server.watch(`${BOOKS}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    const gate = outside.gate("read");
    const scan = server.scan();
    await gate.entered;
    const writes = [server.send(`POST ${BOOKS}`, sent("b")), server.send(`DELETE ${BOOKS}/a`)];
    await until(() => server.server.stats.inFlight === 2 || undefined);
    gate.open();
    expect((await Promise.all(writes)).map(({ status }) => status)).to.deep.equal([201, 200]);
    await scan;
    await server.scan();
    expect((await watch.take(2)).sort()).to.deep.equal(["ADDED b", "DELETED a"]);
    expect([...outside.books.keys()]).to.deep.equal(["b"]);
    expect(
      server.collection
        .in("root")
        .list()
        .map(({ metadata }) => metadata.name),
    ).to.deep.equal(["b"]);
    outside.books.set("last", book("last"));
    await server.scan();
    expect(await watch.take(1)).to.deep.equal(["ADDED last"]);
  });

  it("let a scan wait that begins during a write", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    const gate = outside.gate("write a");
    const write = server.send(`POST ${BOOKS}`, sent("a"));
    await gate.entered;
    const scan = server.scan();
    gate.open();
    expect((await write).status).to.equal(201);
    await scan;
    expect(server.collection.in("root").list()).to.have.length(1);
    expect(outside.calls).to.deep.equal(["read a", "write a", "read a", "read"]);
  });

  it("get 409 for a version from before a change at the source; without a version they apply to what it has now", async () => {
    const outside = new Outside(book("a"), book("b"), book("c"));
    await using server = await open(outside);
    const { body: seen } = await server.get(`${BOOKS}/a`);
    outside.books.set("a", { metadata: { name: "a" }, spec: { title: "Emma" } });
    const stale = await server.send(`PUT ${BOOKS}/a`, { ...seen, spec: { title: "Dune", pages: 2 } });
    expect(outcome(stale)).to.deep.equal([
      409,
      "Conflict",
      'Operation cannot be fulfilled on books.test.dev "a": the object has been modified; please apply your changes to the latest version and try again',
    ]);
    expect(outside.books.get("a")?.spec).to.deep.equal({ title: "Emma" });
    outside.books.set("b", { metadata: { name: "b" }, spec: { title: "Emma" } });
    const patched = await server.send(`PATCH ${BOOKS}/b`, { spec: { pages: 2 } }, MERGE);
    expect([patched.status, outside.books.get("b")?.spec]).to.deep.equal([200, { title: "Emma", pages: 2 }]);
    const { body: c } = await server.get(`${BOOKS}/c`);
    outside.books.set("c", { metadata: { name: "c" }, spec: { title: "Emma" } });
    const preconditions = { resourceVersion: c.metadata.resourceVersion };
    expect((await server.send(`DELETE ${BOOKS}/c`, { preconditions })).status).to.equal(409);
    const { body: newer } = await server.get(`${BOOKS}/c`);
    expect(newer.spec).to.deep.equal({ title: "Emma" });
    outside.books.delete("c");
    expect((await server.send(`PUT ${BOOKS}/c`, { ...newer, spec: { title: "Dune" } })).status).to.equal(404);
    outside.books.set("d", book("d"));
    expect((await server.send(`POST ${BOOKS}`, sent("d"))).status).to.equal(409);
  });

  it("do not trust the last read: an equal patch changes what the source has now", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    outside.books.set("a", book("a", "Emma"));
    const patched = await server.send(`PATCH ${BOOKS}/a`, { spec: { title: "Dune" } }, MERGE);
    expect([patched.status, outside.books.get("a")]).to.deep.equal([200, book("a", "Dune")]);
    const { body: seen } = await server.get(`${BOOKS}/a`);
    outside.books.set("a", book("a", "Emma"));
    expect((await server.send(`PUT ${BOOKS}/a`, seen)).status).to.equal(409);
  });

  it("do not write while the source cannot be read, and say so with 503", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    outside.failure = new Error("disk on fire");
    const answer = await server.send(`POST ${BOOKS}`, sent("b"));
    expect(outcome(answer)).to.deep.equal([
      503,
      "ServiceUnavailable",
      "the source of books.test.dev cannot be read, so nothing was written; try again",
    ]);
    expect(outside.calls).to.deep.equal(["read b"]);
    expect(server.errors).to.deep.equal(["Error: disk on fire"]);
  });

  it("are 503 when readOne returns another object, and the failure names both", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    outside.readOne = async () => book("a");
    expect((await server.send(`POST ${BOOKS}`, sent("b"))).status).to.equal(503);
    expect(server.errors).to.deep.equal([
      "Error: readOne returned root//a for root//b: return that object, or nothing",
    ]);
  });

  it("reach objects in all logical clusters and namespaces with cluster *, and no others of that name", async () => {
    const Page = defineResource({ group: "test.dev", version: "v1", kind: "Page", scope: "Namespaced" });
    const stored = new Map<string, SourceObject>();
    const errors: string[] = [];
    const pages = polled({
      ...{ collection: Page.collection(), cluster: "*", every: 3_600_000, read: () => stored.values() },
      readOne: ({ name }) => stored.get(name), // by its name alone
      write: ({ metadata }) => void stored.set(metadata.name, { metadata }),
      remove: ({ metadata }) => void stored.delete(metadata.name),
      onError: (error) => errors.push(String(error)),
    });
    const workspace = { name: "pages", path: "/clusters/:cluster", authorize: () => allow(), ready: pages.ready };
    const setup = (context: SetupContext): AsyncDisposable => pages.start(context);
    await using server = await startPlain([
      defineVirtualWorkspace({ ...workspace, wildcard: true, resources: [Page.serve(pages)], setup }),
    ]);
    const pathOf = (cluster: string, namespace: string) =>
      `/services/pages/clusters/${cluster}/apis/test.dev/v1/namespaces/${namespace}/pages` as const;
    await untilAnswer(
      () => server.get(pathOf("one", "x")),
      ({ status }) => status === 200,
    );
    const page = { apiVersion: "test.dev/v1", kind: "Page", metadata: { name: "a" } };
    expect((await server.send(`POST ${pathOf("one", "x")}`, page)).status).to.equal(201);
    expect(stored.get("a")?.metadata).to.deep.include({ namespace: "x", annotations: { "kcp.io/cluster": "one" } });
    expect((await server.send(`DELETE ${pathOf("two", "x")}/a`)).status).to.equal(503);
    expect((await server.send(`DELETE ${pathOf("one", "y")}/a`)).status).to.equal(503);
    expect(errors).to.deep.equal([
      "Error: readOne returned one/x/a for two/x/a: return that object, or nothing",
      "Error: readOne returned one/x/a for one/y/a: return that object, or nothing",
    ]);
    expect((await server.get(pathOf("two", "x"))).body.items).to.deep.equal([]);
    expect((await server.send(`DELETE ${pathOf("one", "x")}/a`)).status).to.equal(200);
    expect(stored.size).to.equal(0);
  });

  it("get the author's ApiError or 500 when they fail, and the source is read again", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    for (const [failure, status] of [
      [ApiError.insufficientStorage("the shelf is full"), 507],
      [new Error("disk on fire"), 500],
    ] as const) {
      outside.calls.length = 0;
      outside.store = () => {
        outside.books.set("torn", book("torn"));
        throw failure;
      };
      expect((await server.send(`POST ${BOOKS}`, sent("b"))).status).to.equal(status);
      await until(() => outside.calls.includes("read") || undefined);
    }
    await until(() => server.collection.in("root").get("torn") !== undefined || undefined);
    expectFault(/disk on fire/);
  });

  it("are 504 when they cannot be read back; the next read shows them", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    outside.store = (object) => {
      outside.failure = new Error("disk on fire");
      return object;
    };
    const answer = await server.send(`POST ${BOOKS}`, sent("b"));
    expect(outcome(answer)).to.deep.equal([
      504,
      "Timeout",
      'Timeout: books.test.dev "b" was written, but cannot be read back: read it before you try again',
    ]);
    outside.failure = undefined;
    await server.scan();
    expect((await server.get(`${BOOKS}/b`)).status).to.equal(200);
  });

  it("are 409 when the source drops them at once", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    outside.store = (object) => ({ ...object, spec: { title: "gone" } });
    const gate = outside.gate("write b");
    const create = server.send(`POST ${BOOKS}`, sent("b"));
    await gate.entered;
    const { set } = outside.books;
    outside.books.set = () => outside.books;
    gate.open();
    expect((await create).body.message).to.equal(
      'Operation cannot be fulfilled on books.test.dev "b": its source no longer has it: read it before you try again',
    );
    outside.books.set = set;
  });

  it("keep owners of fields, finalizers and status, which the source does not store", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    await server.send(`POST ${BOOKS}`, sent("a", "Dune", { finalizers: ["test.dev/held"] }));
    const lent = { status: { lent: true } };
    expect((await server.send(`PATCH ${BOOKS}/a/status`, lent, MERGE)).status).to.equal(200);
    await server.scan();
    const { body } = await server.get(`${BOOKS}/a`);
    expect(body.status).to.deep.equal({ lent: true });
    expect(body.metadata.finalizers).to.deep.equal(["test.dev/held"]);
    expect(body.metadata.managedFields).to.have.length(2);
    expect(outside.books.get("a")).to.deep.equal(book("a"));
  });

  it("do not bring back an object that the source has removed by removing a finalizer", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    await server.send(`POST ${BOOKS}`, sent("a", "Dune", { finalizers: ["test.dev/one", "test.dev/two"] }));
    outside.books.delete("a");
    await server.scan();
    for (const finalizers of [["test.dev/two"], null]) {
      expect((await server.get(`${BOOKS}/a`)).body.metadata.deletionTimestamp).to.be.a("string");
      expect((await server.send(`PATCH ${BOOKS}/a`, { metadata: { finalizers } }, MERGE)).status).to.equal(200);
      expect(outside.books.size).to.equal(0);
    }
    expect((await server.get(`${BOOKS}/a`)).status).to.equal(404);
  });

  it("wait for finalizers before they remove an object from the source", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    await server.send(`POST ${BOOKS}`, sent("a", "Dune", { finalizers: ["test.dev/held"] }));
    await server.send(`DELETE ${BOOKS}/a`);
    await server.scan();
    expect((await server.get(`${BOOKS}/a`)).body.metadata.deletionTimestamp).to.be.a("string");
    expect(outside.books.size).to.equal(1);
    await server.send(`PATCH ${BOOKS}/a`, { metadata: { finalizers: null } }, MERGE);
    expect([outside.books.size, (await server.get(`${BOOKS}/a`)).status]).to.deep.equal([0, 404]);
  });

  it("show and change no object in another logical cluster, where readOne would find it by its name", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    const other = "/services/books/clusters/other/apis/test.dev/v1/books";
    const seen = (await server.get(`${BOOKS}/a`)).body;
    const statuses = [
      (await server.send(`PATCH ${other}/a`, { spec: { title: "Emma" } }, MERGE)).status,
      (await server.send(`PUT ${other}/a`, seen)).status,
      (await server.send(`DELETE ${other}/a`)).status,
      (await server.send(`PATCH ${other}/a?fieldManager=x&force=true`, sent("a", "Emma"), APPLY)).status,
    ];
    expect(statuses).to.deep.equal([404, 404, 404, 403]);
    expect((await server.get(other)).body.items).to.deep.equal([]);
    expect([outside.calls, outside.books.get("a")]).to.deep.equal([[], book("a")]);
  });

  it("in another logical cluster are 403, and dry runs write nothing", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    const other = "/services/books/clusters/other/apis/test.dev/v1/books";
    const elsewhere = await server.send(`POST ${other}`, sent("a"));
    expect(outcome(elsewhere)).to.deep.equal([
      403,
      "Forbidden",
      'books.test.dev "a" is forbidden: the objects are in the logical cluster root: create it there',
    ]);
    expect((await server.send(`POST ${BOOKS}?dryRun=All`, sent("a"))).status).to.equal(201);
    expect([outside.calls, outside.books.size]).to.deep.equal([["read a"], 0]);
  });

  it("pass through writable views", async () => {
    const outside = new Outside(book("a", "Secret"));
    await using server = await open(outside);
    const lens = "/services/lens/clusters/root/apis/test.dev/v1/books";
    expect((await server.send(`POST ${lens}`, sent("b"))).status).to.equal(201);
    expect((await server.send(`PATCH ${lens}/b`, { spec: { title: "Emma" } }, MERGE)).status).to.equal(200);
    expect((await server.send(`PATCH ${lens}/a`, { spec: { title: "Emma" } }, MERGE)).status).to.equal(404);
    expect(outside.books.get("b")?.spec).to.deep.equal({ title: "Emma" });
    expect((await server.send(`DELETE ${lens}/b`)).status).to.equal(200);
    expect([...outside.books.keys()]).to.deep.equal(["a"]);
  });

  it("of a client that has left before its turn are not done", async () => {
    const outside = new Outside();
    await using server = await open(outside);
    const gate = outside.gate("read");
    const scan = server.scan();
    await gate.entered;
    const leaving = new AbortController();
    const headers = { authorization: "Bearer alice", "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(sent("a")), signal: leaving.signal };
    const left = fetch(server.url + BOOKS, init).catch(() => "left");
    await until(() => server.server.stats.inFlight === 1 || undefined);
    leaving.abort();
    expect(await left).to.equal("left");
    await until(() => server.server.stats.inFlight === 0 || undefined);
    gate.open();
    await scan;
    expect((await server.send(`POST ${BOOKS}`, sent("b"))).status).to.equal(201);
    expect([...outside.books.keys()]).to.deep.equal(["b"]);
  });
});
