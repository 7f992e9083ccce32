// Columns that a function computes from the object, as for Kubernetes' own kinds.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";

const define = (value: (object: { readonly data?: Readonly<Record<string, string>> }) => unknown) =>
  defineResource({
    group: "test.dev",
    version: "v1",
    kind: "Pairs",
    plural: "pairs",
    scope: "Cluster",
    schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
    columns: {
      Data: { type: "integer", description: "How many there are.", value },
      First: ".data.a",
      Wide: { type: "string", priority: 1, value: ({ metadata }) => metadata.name?.toUpperCase() },
    },
  });
const PAIRS = "/services/pairs/clusters/root/apis/test.dev/v1/pairs";
const TABLE = { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } };

async function start(value: Parameters<typeof define>[0]) {
  const Pairs = define(value);
  const pairs = Pairs.collection();
  pairs.in("root").set("x", { data: { a: "1", b: "2" } });
  pairs.in("root").set("y", {});
  const resources = [Pairs.serve(pairs)];
  const view = defineVirtualWorkspace({
    name: "pairs",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources,
  });
  return { pairs, server: await startPlain([view]) };
}
const cellsOf = ({ rows }: { rows: { cells: unknown[] }[] }): unknown[][] => rows.map(({ cells }) => cells.slice(0, 4));

describe("a computed column", () => {
  it("is in Tables of lists, single objects and watches, with its own type", async () => {
    const { pairs, server } = await start(({ data = {} }) => Object.keys(data).length);
    await using _ = server;
    const list = (await server.get(PAIRS, TABLE)).body;
    expect(list.columnDefinitions.slice(1, 4)).to.deep.equal([
      { name: "Data", type: "integer", format: "", description: "How many there are.", priority: 0 },
      {
        name: "First",
        type: "string",
        format: "",
        description: "Custom resource definition column (in JSONPath format): .data.a",
        priority: 0,
      },
      { name: "Wide", type: "string", format: "", description: "", priority: 1 },
    ]);
    expect(cellsOf(list)).to.deep.equal([
      ["x", 2, "1", "X"],
      ["y", 0, null, "Y"],
    ]);
    expect(cellsOf((await server.get(`${PAIRS}/x`, TABLE)).body)).to.deep.equal([["x", 2, "1", "X"]]);
    await using watch = await server.watch(`${PAIRS}?watch=true&fieldSelector=metadata.name%3Dx`, TABLE);
    const seen = async (): Promise<unknown[][]> => cellsOf((await watch.next()).object as never);
    expect(await seen()).to.deep.equal([["x", 2, "1", "X"]]);
    pairs.in("root").set("x", { data: { a: "1" } });
    expect(await seen()).to.deep.equal([["x", 1, "1", "X"]]);
  });

  const faulty: Record<string, (object: { readonly data?: object }) => unknown> = {
    throws: () => {
      throw new Error("cannot count");
    },
    "reads a missing field": ({ data }) => Object.keys(data as object).length,
    "returns another type": () => "two",
    "returns a value that cannot be printed": () => Promise.resolve(1),
  };
  for (const [what, value] of Object.entries(faulty))
    it(`is empty if its function ${what}, and the other columns are shown`, async () => {
      const { server } = await start(value);
      await using _ = server;
      const { status, body } = await server.get(PAIRS, TABLE);
      expect(status).to.equal(200);
      expect(cellsOf(body).at(-1)).to.deep.equal(["y", null, null, "Y"]);
    });

  it("cannot change the object, whatever the function does to it", async () => {
    const { server } = await start((object) => {
      (object as { data?: object }).data = { hacked: "1" };
      return 1;
    });
    await using _ = server;
    await server.get(PAIRS, TABLE);
    expect((await server.get(`${PAIRS}/x`)).body.data).to.deep.equal({ a: "1", b: "2" });
  });

  it("is part of the definition's hash, by its source text", () => {
    const count = () => define(({ data = {} }) => Object.keys(data).length);
    expect(count().hash).to.equal(count().hash);
    expect(count().hash).not.to.equal(define(({ data = {} }) => Object.values(data).length).hash);
  });
});
