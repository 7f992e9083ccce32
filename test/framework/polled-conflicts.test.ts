// Conflicts that the author of a polled source throws: a retry helps only if another read gives another object.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { polled } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { APPLY, MERGE } from "../_support/patches.ts";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";
import { untilAnswer } from "../_support/until.ts";
import { BOOKS, Book, book, Outside, serving } from "./polled-outside.ts";

/** Serves a source that is read once at the start, and around each write. */
async function open({ read, readOne, write, remove }: Outside): Promise<PlainServer> {
  const options = { collection: Book.collection(), cluster: "root", every: 3_600_000 };
  const server = await startPlain([serving(polled({ ...options, read, readOne, write, remove }))]);
  await untilAnswer(
    () => server.get(BOOKS),
    ({ status }) => status === 200,
  );
  return server;
}

describe("conflicts of writes to polled sources", () => {
  it("are 409 after one attempt when the author throws a conflict about the object that was read", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    const conflict = ApiError.conflict({ group: "test.dev", resource: "books" }, "a", "the book is lent");
    outside.store = () => {
      throw conflict;
    };
    outside.removing = () => {
      throw conflict;
    };
    const emma = { apiVersion: "test.dev/v1", kind: "Book", metadata: { name: "a" }, spec: { title: "Emma" } };
    const { metadata } = (await server.get(`${BOOKS}/a`)).body;
    for (const [request, body, headers] of [
      [`PATCH ${BOOKS}/a`, { spec: { title: "Emma" } }, MERGE],
      [`PATCH ${BOOKS}/a?fieldManager=ann&force=true`, emma, APPLY],
      [`PUT ${BOOKS}/a`, { ...emma, metadata }, undefined],
      [`DELETE ${BOOKS}/a`, undefined, undefined],
    ] as const) {
      outside.calls.length = 0;
      const answer = await server.send(request, body, headers);
      expect(outcome(answer)[2], request).to.include("the book is lent");
      expect(answer.status, request).to.equal(409);
      expect(
        outside.calls.filter((call) => !call.startsWith("read")),
        request,
      ).to.have.length(1);
    }
  });

  it("are tried again after a conflict when a new read gives another object", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    let left = 2;
    outside.store = (object) => {
      if (left-- === 0) return object;
      outside.books.set("a", { ...book("a"), spec: { title: "Dune", pages: left } });
      throw ApiError.conflict({ group: "test.dev", resource: "books" }, "a", "another version");
    };
    const patched = await server.send(`PATCH ${BOOKS}/a`, { spec: { title: "Emma" } }, MERGE);
    expect([patched.status, patched.body.spec]).to.deep.equal([200, { title: "Emma", pages: 0 }]);
    expect(outside.calls.filter((call) => call === "write a")).to.have.length(3);
  });

  it("are 409 in the end when each new read gives another object", async () => {
    const outside = new Outside(book("a"));
    await using server = await open(outside);
    let pages = 0;
    outside.store = () => {
      outside.books.set("a", { ...book("a"), spec: { title: "Dune", pages: ++pages } });
      throw ApiError.conflict({ group: "test.dev", resource: "books" }, "a", "another version");
    };
    const patched = await server.send(`PATCH ${BOOKS}/a`, { spec: { title: "Emma" } }, MERGE);
    expect([patched.status, pages]).to.deep.equal([409, 100]);
  });
});
