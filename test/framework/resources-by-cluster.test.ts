// Resources that depend on the logical cluster: clusters with equal resources share one list, and with it documents and
// streams.
import { allow, defineResource, defineVirtualWorkspace, type ServedResource } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label, startPlain } from "../_support/plain.ts";

const define = (kind: string) =>
  defineResource({ group: "test.dev", version: "v1", kind, scope: "Cluster", spec: { type: "object" } });
const [Book, Lamp] = [define("Book"), define("Lamp")];
const at = (cluster: string, rest = ""): string => `/clusters/${cluster}/apis/test.dev/v1${rest}`;

function setUp() {
  const [books, lamps] = [Book.collection(), Lamp.collection()];
  const [book, lamp] = [Book.serve(books), Lamp.serve(lamps)];
  const both = [book, lamp] as readonly ServedResource[];
  const lists = new Map<string, readonly ServedResource[]>([
    ["a", both],
    ["b", both],
    ["c", [book]],
    ["*", both],
  ]);
  const view = defineVirtualWorkspace({
    name: "shard",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources: ({ params }) => lists.get(params.cluster) ?? [],
  });
  return { books, lamps, lists, book, view };
}

describe("resources by logical cluster", () => {
  it("appear in discovery, documents and routes of the clusters that have them", async () => {
    await using server = await startPlain([setUp().view]);
    const names = async (cluster: string): Promise<string[]> =>
      (await server.get(at(cluster))).body.resources.map(({ name }: { name: string }) => name);
    expect(await names("a")).to.deep.equal(["books", "lamps"]);
    expect(await names("c")).to.deep.equal(["books"]);
    expect((await server.get(at("nowhere"))).status).to.equal(404);
    expect((await server.get(at("b", "/lamps"))).status).to.equal(200);
    expect((await server.get(at("c", "/lamps"))).status).to.equal(404);
    const etag = async (cluster: string): Promise<unknown> => {
      const { headers } = await server.get(`/clusters/${cluster}/openapi/v3/apis/test.dev/v1`);
      return headers.etag;
    };
    expect(await etag("a")).to.equal(await etag("b"));
    expect(await etag("a")).not.to.equal(await etag("c"));
  });

  it("are watched in all clusters at once, and in each, from one source", async () => {
    const { books, view } = setUp();
    await using server = await startPlain([view]);
    await using everywhere = await server.watch(`${at("*", "/books")}?watch=true`);
    await using inB = await server.watch(`${at("b", "/books")}?watch=true`);
    for (const cluster of ["a", "b", "c"]) books.in(cluster).set(`of-${cluster}`, {});
    expect(await everywhere.take(3)).to.deep.equal(["ADDED of-a", "ADDED of-b", "ADDED of-c"]);
    expect(label(await inB.next())).to.equal("ADDED of-b");
    expect(server.server.stats.sources).to.be.at.most(1);
    const { items } = (await server.get(at("*", "/books"))).body;
    expect(
      items.map((item: { metadata: { annotations: object } }) => Object.values(item.metadata.annotations)),
    ).to.deep.equal([["a"], ["b"], ["c"]]);
  });

  it("end the watches of a cluster that loses them, but not those of other clusters or of all clusters", async () => {
    const { lamps, lists, book, view } = setUp();
    await using server = await startPlain([view]);
    await using inA = await server.watch(`${at("a", "/lamps")}?watch=true`);
    await using inB = await server.watch(`${at("b", "/lamps")}?watch=true`);
    await using everywhere = await server.watch(`${at("*", "/lamps")}?watch=true`);
    lists.set("a", [book]);
    expect((await inA.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    lamps.in("b").set("x", {});
    expect(label(await inB.next())).to.equal("ADDED x");
    expect(label(await everywhere.next())).to.equal("ADDED x");
  });
});
