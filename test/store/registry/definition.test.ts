// Objects that were stored under an older definition of their kind.
import { converted, defineResource } from "@virtual-workspaces/framework";
import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { NOTES, Note, note, Second, serve } from "./notes.ts";

const base = { group: "test.dev", kind: "Note", scope: "Cluster" } as const;

const Later = defineResource({
  ...base,
  version: "v1",
  spec: { type: "object", properties: { n: { type: "integer" }, color: { type: "string", default: "blue" } } },
  selectableFields: [".spec.color"],
});

describe("objects stored under another definition", () => {
  let store: Store;

  beforeEach(async () => {
    store = memoryStore();
    await using server = await serve([Note.serve(Note.collection(persistent(store)))]);
    await server.send(`POST ${NOTES}`, note("old", 1, "gone later"));
  });

  afterEach(() => store[Symbol.asyncDispose]());

  it("are converted to the current one: unknown fields pruned, defaults set, new fields selectable", async () => {
    const { resourceVersion } = (await Note.collection(persistent(store)).in("root").get("old"))?.metadata ?? {};
    await using server = await serve([Later.serve(Later.collection(persistent(store)))]);
    const { body } = await server.get(`${NOTES}/old`);
    expect(body.spec).to.deep.equal({ n: 1, color: "blue" });
    expect(body.metadata.resourceVersion).to.equal(resourceVersion);
    const list = await server.get(`${NOTES}?fieldSelector=spec.color=blue`);
    expect(list.body.items.map(({ spec }: { spec: unknown }) => spec)).to.deep.equal([{ n: 1, color: "blue" }]);
    await using watch = await server.watch(`${NOTES}?watch=true&fieldSelector=spec.color=blue`);
    expect((await watch.next()).object["spec"]).to.deep.equal({ n: 1, color: "blue" });
  });

  it("are converted from another version if the kind has a conversion", async () => {
    const kept = Second.collection(persistent(store));
    const first = converted({
      from: kept,
      to: Note as never,
      read: ({ spec }) => ({ spec: { n: (spec as { count: number }).count } }) as never,
      write: ({ spec }: never) => ({ spec: { count: (spec as { n: number }).n } }) as never,
    });
    await using server = await serve([Second.serve(kept), Note.serve(first as never)]);
    const { body } = await server.get(`${NOTES.replace("v1", "v2")}/old`);
    expect([body.apiVersion, body.spec]).to.deep.equal(["test.dev/v2", { count: 1 }]);
    expect((await server.get(`${NOTES}/old`)).body.spec).to.deep.equal({ n: 1 });
  });

  it("get the new version's apiVersion without a conversion, like conversion None", async () => {
    await using server = await serve([Second.serve(Second.collection(persistent(store)))]);
    const { body } = await server.get(`${NOTES.replace("v1", "v2")}/old`);
    expect([body.apiVersion, body.spec]).to.deep.equal(["test.dev/v2", {}]);
  });

  it("are not read if a newer version of this package wrote them, which the log reports", async () => {
    const { entries } = await store.range({ from: "test.dev/", to: "test.dev0" });
    const [entry] = entries;
    if (entry === undefined) throw new Error("nothing is kept");
    entry.value[0] = 99;
    await store.commit({ conditions: [], operations: [{ type: "put", key: entry.key, value: entry.value }] });
    const troubles: unknown[] = [];
    const read = await Note.collection(persistent(store, { onError: (error) => troubles.push(error) }))
      .in("root")
      .get("old")
      .catch((error: unknown) => error);
    expect(read).to.include({ code: 500 });
    expect(troubles[0]).to.include({ code: "NewerFormat" });
    expect((read as Error).message).to.match(/a newer version of this package wrote notes\.test\.dev root\/old/);
  });
});
