// A part of a collection that becomes the objects of a source outside: the differences, and nothing else, are events.
import { allow, type Collection, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { MERGE } from "../_support/patches.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const Book = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Book",
  scope: "Namespaced",
  spec: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", maxLength: 10 }, pages: { type: "integer", default: 1 } },
    "x-kubernetes-validations": [{ rule: "self.title != 'Untitled'", message: "give it a title" }],
  },
  status: { type: "object", properties: { lent: { type: "boolean" } } },
});
type Books = Collection<{ spec: { title: string; pages?: number }; status?: { lent?: boolean } }>;

const BOOKS = "/services/books/clusters/root/apis/test.dev/v1/namespaces/shelf/books";
const book = (name: string, title = "Dune", metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { title },
});

const serve = (books: Books): Promise<PlainServer> =>
  startPlain([
    defineVirtualWorkspace({
      name: "books",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Book.serve(books)],
    }),
  ]);

describe("replace of a part of a collection", () => {
  it("makes the differences events, and keeps the version of equal objects", async () => {
    const books: Books = Book.collection();
    const shelf = books.in("root", "shelf");
    await using server = await serve(books);
    shelf.replace([book("a"), book("b"), book("c")]);
    const before = shelf.list();
    await using watch = await server.watch(
      `${BOOKS}?watch=true&resourceVersion=${before[2]?.metadata.resourceVersion}`,
    );
    shelf.replace([book("d"), book("b", "Emma"), book("a")]);
    expect(await watch.take(3)).to.deep.equal(["DELETED c", "ADDED d", "MODIFIED b"]);
    shelf.replace([book("a"), book("b", "Emma"), book("d")]);
    expect(shelf.get("a")).to.deep.equal(before[0]);
    const { uid, creationTimestamp, generation } = before[1]?.metadata ?? {};
    expect(shelf.get("b")?.metadata).to.include({ uid, creationTimestamp, generation: (generation ?? 0) + 1 });
    shelf.replace([]);
    expect(await watch.take(3)).to.deep.equal(["DELETED a", "DELETED b", "DELETED d"]);
    expect(shelf.list()).to.deep.equal([]);
  });

  it("leaves other logical clusters and namespaces unchanged", () => {
    const books: Books = Book.collection();
    books.in("root", "other").set("a", { title: "Emma" });
    books.in("other", "shelf").set("a", { title: "Emma" });
    books.in("root", "shelf").replace([]);
    expect([books.in("root", "other").list().length, books.in("other", "shelf").list().length]).to.deep.equal([1, 1]);
  });

  it("reads values as JSON: undefined members and the order of members are no difference", () => {
    const shelf = (Book.collection() as Books).in("root", "shelf");
    shelf.replace([{ metadata: { name: "a", labels: { x: "1", y: "2" } }, spec: { title: "Dune", pages: 2 } }]);
    const { resourceVersion } = shelf.get("a")?.metadata ?? {};
    const spec = { pages: 2, title: "Dune", isbn: undefined };
    shelf.replace([{ metadata: { name: "a", labels: { y: "2", x: "1" }, namespace: "shelf" }, spec }]);
    expect(shelf.get("a")?.metadata.resourceVersion).to.equal(resourceVersion);
  });

  it("sets defaults and drops unknown fields, as for clients", () => {
    const shelf = (Book.collection() as Books).in("root", "shelf");
    shelf.replace([{ metadata: { name: "a" }, spec: { title: "Dune", isbn: 1 } } as never]);
    expect(shelf.get("a")?.spec).to.deep.equal({ title: "Dune", pages: 1 });
  });

  it("rejects a bad object before anything changes, with its name and field", () => {
    const shelf = (Book.collection() as Books).in("root", "shelf");
    shelf.replace([book("a")]);
    const before = shelf.list();
    for (const [bad, message] of [
      [
        book("b", "Much too long"),
        'Book.test.dev "b" is invalid: [spec.title: Too long: may not be more than 10 bytes',
      ],
      [book("b", "Untitled"), 'Book.test.dev "b" is invalid: spec: Invalid value: give it a title'],
      [{ metadata: { name: "b" } }, 'Book.test.dev "b" is invalid: [spec: Required value'],
      [book("B"), 'Book.test.dev "B" is invalid: metadata.name: Invalid value: "B": a lowercase RFC 1123 subdomain'],
      [
        book("b", "Emma", { labels: { x: 1 } }),
        'Book.test.dev "b" is invalid: metadata.labels must be a map of strings',
      ],
      [
        book("b", "Emma", { namespace: "x" }),
        'Book.test.dev "b" is invalid: metadata.namespace: Invalid value: "x": must be shelf',
      ],
      [{ ...book("b"), kind: "Note" }, 'Book.test.dev "b" is invalid: kind: Invalid value: "Note": must be Book'],
      [{ spec: { title: "Emma" } }, 'Book.test.dev "objects[1]" is invalid: [metadata.name: Required value'],
      ["b", 'Book.test.dev "objects[1]" is invalid: must be an object'],
      [book("a", "Emma"), 'Book.test.dev "a" is invalid: metadata.name: Duplicate value: "a"'],
      [{ ...book("b"), spec: { title: 1n } }, 'Book.test.dev "b" is invalid: [spec.title: Invalid value: "integer"'],
    ] as const) {
      const attempt = (): void => shelf.replace([book("a", "Emma"), bad as never]);
      expect(attempt, message)
        .to.throw()
        .that.includes({ code: 422 })
        .and.has.property("message")
        .that.includes(message);
      expect(shelf.list()).to.deep.equal(before);
    }
  });

  it("keeps finalizers, status and owners of fields; a removed object with finalizers is marked", async () => {
    const books: Books = Book.collection();
    const shelf = books.in("root", "shelf");
    await using server = await serve(books);
    const held = { apiVersion: "test.dev/v1", kind: "Book", ...book("a", "Dune", { finalizers: ["test.dev/held"] }) };
    expect((await server.send(`POST ${BOOKS}`, held)).status).to.equal(201);
    shelf.setStatus("a", { lent: true });
    shelf.replace([{ ...book("a"), spec: { title: "Emma", pages: 4 } }]);
    const kept = shelf.get("a");
    expect(kept?.metadata.finalizers).to.deep.equal(["test.dev/held"]);
    expect(kept?.["status"]).to.deep.equal({ lent: true });
    expect(kept?.metadata.managedFields?.map(({ manager }) => manager)).to.include("virtual-workspaces");
    shelf.replace([]);
    const marked = shelf.get("a");
    expect(marked?.metadata.deletionTimestamp).to.be.a("string");
    shelf.replace([]);
    expect(shelf.get("a")).to.deep.equal(marked);
    const free = { metadata: { finalizers: null } };
    expect((await server.send(`PATCH ${BOOKS}/a`, free, MERGE)).status).to.equal(200);
    expect(shelf.list()).to.deep.equal([]);
  });

  it("takes finalizers, uid and creationTimestamp of the source; another uid is another object", async () => {
    const books: Books = Book.collection();
    const shelf = books.in("root", "shelf");
    await using server = await serve(books);
    const creationTimestamp = "2020-01-01T00:00:00Z";
    shelf.replace([book("a", "Dune", { uid: "u1", creationTimestamp, finalizers: ["test.dev/held"] })]);
    const { resourceVersion, ...metadata } = shelf.get("a")?.metadata ?? {};
    expect(metadata).to.include({ uid: "u1", creationTimestamp });
    await using watch = await server.watch(`${BOOKS}?watch=true&resourceVersion=${resourceVersion}`);
    shelf.replace([book("a", "Dune", { finalizers: [] })]);
    shelf.replace([book("a", "Dune", { uid: "u2" })]);
    expect(await watch.take(3)).to.deep.equal(["MODIFIED a", "DELETED a", "ADDED a"]);
    expect(shelf.get("a")?.metadata).to.include({ uid: "u2", generation: 1 }).and.not.have.property("finalizers");
  });

  it("rejects a name in the same words as `set`", () => {
    const error = (write: () => unknown): string => {
      try {
        write();
      } catch (thrown) {
        return (thrown as Error).message;
      }
      throw new Error("nothing was rejected");
    };
    for (const name of ["Ann@example.com", "a/b", "-", "a".repeat(254)]) {
      const part = Book.collection().in("root", "shelf");
      const words = error(() => part.replace([book(name)]));
      expect(words).to.contain("metadata.name: Invalid value: ");
      expect(error(() => part.set(name, { title: "Dune" }))).to.equal(words);
    }
  });
});
