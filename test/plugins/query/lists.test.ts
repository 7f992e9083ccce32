// Lists of a query view: sorted, filtered, searched, counted and paged by the server.
import {
  type AuthorizeRequest,
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
} from "@virtual-workspaces/framework";
import { queryView } from "@virtual-workspaces/query";
import { expect } from "chai";
import { type Answer, outcome, startPlain } from "../../_support/plain.ts";

const Book = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Book",
  scope: "Namespaced",
  spec: {
    type: "object",
    properties: {
      title: { type: "string" },
      pages: { type: "integer" },
      tags: { type: "array", items: { type: "string" } },
    },
  },
  columns: [
    { name: "Title", type: "string", jsonPath: ".spec.title" },
    { name: "Pages", type: "integer", jsonPath: ".spec.pages" },
  ],
  selectableFields: [".spec.title"],
});

const BOOKS = [
  ["emma", "Emma", 474],
  ["dune", "Dune", 612],
  ["momo", "Momo", 304],
  ["ubik", "Ubik", 202],
  ["blank", "Untitled", undefined],
] as const;

const ROOT = "/services/query/clusters/root/apis/example.dev/v1/books";
const ALL = "/services/query/clusters/*/apis/example.dev/v1/books";

/** Alice may list in `root` and `team`, the admin everywhere at once, others nowhere. */
function authorize({ user, params, verb }: AuthorizeRequest<{ readonly cluster: string }>) {
  if (user.in("admins")) return allow();
  if (verb === "create") return deny("read-only");
  return user.name === "alice" && ["root", "team"].includes(params.cluster) ? allow() : deny("not a member");
}

async function start(options: { readonly indexes?: number } = {}) {
  const books = Book.collection();
  for (const [name, title, pages] of BOOKS)
    books
      .in("root", "shelf")
      .set(name, { title, ...(pages !== undefined && { pages }) }, { labels: { odd: String((pages ?? 0) % 2) } });
  books.in("team", "shelf").set("team-book", { title: "Teamwork", pages: 250 });
  books.in("secret", "shelf").set("secret-book", { title: "Secrets", pages: 1 });
  const over = defineVirtualWorkspace({
    name: "books",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize,
    resources: [Book.serve(books)],
  });
  const server = await startPlain([over, queryView({ over, ...options })]);
  return { books, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const names = ({ body }: Answer): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
const query = (parameters: Record<string, string>): string => `${ROOT}?${new URLSearchParams(parameters)}`;

describe("lists of a query view", () => {
  let shelf: Awaited<ReturnType<typeof start>>;
  before(async () => {
    shelf = await start();
  });
  after(() => shelf[Symbol.asyncDispose]());

  const get = (parameters: Record<string, string>): Promise<Answer> => shelf.server.get(query(parameters));

  it("sorts by a column in both directions, with missing values last", async () => {
    expect(names(await get({ sortBy: "Pages" }))).to.deep.equal(["ubik", "momo", "emma", "dune", "blank"]);
    expect(names(await get({ sortBy: "-pages" }))).to.deep.equal(["dune", "emma", "momo", "ubik", "blank"]);
  });

  it("sorts by a JSON path, in braces as kubectl writes it or without", async () => {
    for (const path of [".spec.title", "{.spec.title}"])
      expect(names(await get({ sortBy: path }))).to.deep.equal(["dune", "emma", "momo", "ubik", "blank"]);
  });

  it("sorts by several fields, then by name", async () => {
    const sortBy = ".metadata.labels.odd,-Name";
    expect(names(await get({ sortBy }))).to.deep.equal(["ubik", "momo", "emma", "dune", "blank"]);
  });

  it("filters by a CEL expression over the object", async () => {
    const filter = "has(object.spec.pages) && object.spec.pages > 300";
    expect(names(await get({ filter, sortBy: "Name" }))).to.deep.equal(["dune", "emma", "momo"]);
  });

  it("searches the names and columns, whatever the case", async () => {
    expect(names(await get({ search: "UNTIT" }))).to.deep.equal(["blank"]);
    expect(names(await get({ search: "61" }))).to.deep.equal(["dune"]);
    expect(names(await get({ search: "no such text" }))).to.deep.equal([]);
  });

  it("applies label and field selectors", async () => {
    expect(names(await get({ sortBy: "Name", fieldSelector: "spec.title=Momo" }))).to.deep.equal(["momo"]);
    expect(names(await get({ sortBy: "Name", labelSelector: "odd=0" }))).to.have.length(5);
    const unknown = await get({ sortBy: "Name", fieldSelector: "spec.pages=3" });
    expect(outcome(unknown)).to.deep.equal([
      400,
      "BadRequest",
      "field label not supported: spec.pages; use one of metadata.name, metadata.namespace, spec.title, or the parameter filter",
    ]);
  });

  it("pages by offset, with the total", async () => {
    const page = await get({ sortBy: "Pages", limit: "2", offset: "1" });
    expect(names(page)).to.deep.equal(["momo", "emma"]);
    expect(page.body.metadata).to.include({ remainingItemCount: 2 });
    expect(page.body.metadata.query).to.deep.equal({ total: 5, offset: 1 });
  });

  it("pages by a cursor that objects may not shift", async () => {
    await using own = await start();
    const first = await own.server.get(query({ sortBy: "Pages", limit: "2" }));
    expect(names(first)).to.deep.equal(["ubik", "momo"]);
    own.books.in("root", "shelf").set("thin", { title: "Thin", pages: 3 });
    own.books.in("root", "shelf").delete("momo");
    const { continue: token } = first.body.metadata;
    const second = await own.server.get(query({ sortBy: "Pages", limit: "2", continue: token }));
    expect(names(second)).to.deep.equal(["emma", "dune"]);
    const last = await own.server.get(query({ sortBy: "Pages", limit: "2", continue: second.body.metadata.continue }));
    expect(names(last)).to.deep.equal(["blank"]);
    expect(last.body.metadata).not.to.have.property("continue");
    const other = await own.server.get(query({ sortBy: "Title", continue: token }));
    expect(outcome(other)).to.deep.equal([
      400,
      "BadRequest",
      "invalid continue token: it belongs to another query; repeat sortBy, filter and search",
    ]);
    expect(outcome(await own.server.get(query({ sortBy: "Title", continue: "e30" })))).to.deep.equal([
      400,
      "BadRequest",
      "invalid continue token: it is damaged; list again without continue",
    ]);
  });

  it("counts the values of fields", async () => {
    const { body } = await get({ countBy: ".metadata.labels.odd,Pages", limit: "1" });
    expect(body.metadata.query.total).to.equal(5);
    expect(body.metadata.query.counts[".metadata.labels.odd"]).to.deep.equal({
      values: [{ value: "0", count: 5 }],
      others: 0,
    });
    expect(body.metadata.query.counts["Pages"].values).to.deep.include({ value: null, count: 1 });
  });

  it("shows the requested columns in a Table", async () => {
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const table = await shelf.server.get(query({ columns: ".spec.pages,Name", sortBy: "Name", limit: "1" }), {
      headers,
    });
    expect(table.body.columnDefinitions.map(({ name }: { name: string }) => name)).to.deep.equal([
      ".spec.pages",
      "Name",
    ]);
    expect(table.body.rows[0].cells).to.deep.equal([null, "blank"]);
    expect(table.body.metadata.query.total).to.equal(5);
  });

  it("answers a list without parameters as the source does", async () => {
    const { body } = await shelf.server.get(ROOT);
    const { body: source } = await shelf.server.get("/services/books/clusters/root/apis/example.dev/v1/books");
    expect(body).to.deep.equal(source);
  });

  it("lists all logical clusters that the caller may list, and counts no others", async () => {
    const alice = await shelf.server.get(`${ALL}?sortBy=Name`);
    expect(names(alice)).to.deep.equal(["blank", "dune", "emma", "momo", "team-book", "ubik"]);
    expect(alice.body.metadata.query.total).to.equal(6);
    expect(names(await shelf.server.get(ALL))).to.have.length(6);
    expect(names(await shelf.server.get(`${ALL}?sortBy=Name`, { user: "admin" }))).to.have.length(7);
    const bob = await shelf.server.get(`${ALL}?sortBy=Name&countBy=Title`, { user: "bob" });
    expect(bob.body.metadata.query).to.deep.include({
      total: 0,
      offset: 0,
      counts: { Title: { values: [], others: 0 } },
    });
    expect((await shelf.server.get(`${ROOT}?sortBy=Name`, { user: "bob" })).status).to.equal(403);
  });

  it("is read-only", async () => {
    const created = await shelf.server.send(
      `POST /${ROOT.slice(1).replace("/books", "/namespaces/shelf/books")}`,
      {},
      { user: "admin" },
    );
    expect(created.status).to.equal(405);
  });

  const INVALID: Record<string, [Record<string, string>, string]> = {
    "an unknown column": [
      { sortBy: "Weight" },
      'invalid sortBy "Weight": use a column (Name, Namespace, Cluster, Age, Title, Pages) or a path such as .spec.replicas',
    ],
    "a malformed path": [{ sortBy: ".spec[" }, 'invalid sortBy ".spec["'],
    "a filter that does not compile": [
      { filter: "object." },
      'invalid filter: use a CEL expression over "object" that is true or false',
    ],
    "a filter of another type": [
      { filter: "1 + 1" },
      'invalid filter: use a CEL expression over "object" that is true or false',
    ],
    "an offset that is no number": [{ offset: "-1" }, 'invalid offset "-1": use a number from 0 to 999999999'],
    "too many fields": [{ sortBy: "Name,Age,Title,Pages,Cluster" }, "invalid sortBy: it names 5 fields, use at most 4"],
    "half of a held window": [
      { heldOffset: "1" },
      "invalid heldOffset or heldLimit: set both, to the window that the client holds",
    ],
    "a direction without a field": [{ sortBy: "-" }, 'invalid sortBy "": use a column'],
    "a large held window": [
      { heldOffset: "0", heldLimit: "5000", resourceVersion: "1" },
      "invalid heldLimit: a watch follows at most 1000 objects",
    ],
    "a long search": [{ search: "x".repeat(300) }, "invalid search: it has 300 characters, use at most 256"],
  };
  for (const [what, [parameters, message]] of Object.entries(INVALID))
    it(`rejects ${what} with 400`, async () => {
      const { status, body } = await get(parameters);
      expect(status).to.equal(400);
      expect(body.message).to.contain(message);
    });

  it("warns of objects on which the filter fails, and leaves them out", async () => {
    const answer = await get({ filter: "object.spec.pages > 300", sortBy: "Name" });
    expect(names(answer)).to.deep.equal(["dune", "emma", "momo"]);
    expect(String(answer.headers["warning"])).to.contain(
      "filter failed for some objects, which are left out: no such key: pages",
    );
  });

  it("drops the index that has been idle longest, and rejects queries of a user who has too many open", async () => {
    await using own = await start({ indexes: 8 });
    for (let limit = 1; limit < 12; limit++)
      expect((await own.server.get(query({ filter: `object.spec.pages > ${limit}` }))).status).to.equal(200);
    const watches = await Promise.all(
      ["Name", "Title"].map((sortBy) => own.server.watch(query({ sortBy, watch: "true", limit: "2" }))),
    );
    expect(outcome(await own.server.get(query({ sortBy: "Pages" })))).to.deep.equal([
      429,
      "TooManyRequests",
      "too many different queries of this user are open: at most 2",
    ]);
    expect((await own.server.get(query({ sortBy: "Title" }))).status).to.equal(200);
    expect((await own.server.get(query({ sortBy: "Pages" }), { user: "admin" })).status).to.equal(200);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
  });

  it("rejects queries while all indexes are read", async () => {
    await using own = await start({ indexes: 1 });
    await using watch = await own.server.watch(query({ sortBy: "Name", watch: "true", limit: "2" }));
    expect(watch.status).to.equal(200);
    expect(outcome(await own.server.get(query({ sortBy: "Pages" }), { user: "admin" }))).to.deep.equal([
      429,
      "TooManyRequests",
      "too many different queries are open: at most 1",
    ]);
  });

  it("allow nothing over all workspaces while no shard is available", async () => {
    const over = defineVirtualWorkspace({
      name: "books",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: allow,
      resources: [Book.serve(Book.collection())],
    });
    const shards = { running: new Map(), missing: ["a", "b"], listen: () => ({ [Symbol.dispose]: () => undefined }) };
    await using server = await startPlain([over, queryView({ over, shards: () => shards })]);
    const { status, text } = await server.get(`${ALL.replace("books", "namespaces/shelf/books/emma")}`, {
      user: "alice",
    });
    expect(status, text).to.equal(403);
    expect(text).to.include("no shard is available");
  });
});
