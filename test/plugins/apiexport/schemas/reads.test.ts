// Bound schemas of a workspace: their selection, and reads as on any API server.
import { expect } from "chai";
import { MERGE } from "../../../_support/patches.ts";
import { outcome } from "../../../_support/plain.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, exportOf, schemaOf } from "../../../workspace-server/bindings/support/shard.ts";
import { makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer, SCHEMAS, schemasIn } from "../support/consumer.ts";
import { Provider, startViewed } from "../support/provider.ts";

const root = { user: "root" };
const TABLE = { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } };
const WIDGETS = "v1.widgets.example.dev";

describe("the view of bound schemas", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  let other: Provider;
  let consumer: Consumer;

  before(async () => {
    server = await startViewed();
    provider = await Provider.make(server);
    other = new Provider(server, await makeWorkspace(server, "other"), "gadgets");
    await other.post(other.cluster, SCHEMAS, schemaOf("v1", { plural: "gadgets", kind: "Gadget" }));
    await other.post(other.cluster, SCHEMAS, schemaOf("v1", { plural: "sprockets", kind: "Sprocket" }));
    const schemas = ["v1.gadgets.example.dev", "v1.sprockets.example.dev"];
    await other.post(other.cluster, `${APIS}/apiexports`, exportOf("gadgets", schemas));
    consumer = await Consumer.make(server, "consumer");
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    await consumer.bind("gadgets", `${other.cluster}:gadgets`);
  });

  after(() => server[Symbol.asyncDispose]());

  it("lists the schemas of the exports of its bindings, sorted by name, as their provider has them", async () => {
    const list = await consumer.get(SCHEMAS);
    expect(schemasIn(list)).to.deep.equal(["v1.gadgets.example.dev", "v1.sprockets.example.dev", WIDGETS]);
    expect([list.body.kind, list.body.apiVersion]).to.deep.equal(["APIResourceSchemaList", "apis.kcp.io/v1alpha1"]);
    expect(list.body.metadata.resourceVersion).to.match(/^[1-9]\d+$/);
    const names: string[] = list.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    expect(names).to.deep.equal(names.toSorted());
    expect(names.some((name) => name.endsWith(".tenancy.kcp.io"))).to.equal(true);
    const { body: shown } = await consumer.get(`${SCHEMAS}/${WIDGETS}`);
    const { body: own } = await server.get(`/clusters/${provider.cluster}${SCHEMAS}/${WIDGETS}`, root);
    expect(shown.metadata.resourceVersion).to.not.equal(own.metadata.resourceVersion);
    for (const { metadata } of [shown, own]) {
      delete metadata.resourceVersion;
      delete metadata.managedFields;
    }
    expect(shown).to.deep.equal(own);
    expect(shown.metadata.annotations["kcp.io/cluster"]).to.equal(provider.cluster);
  });

  it("is the same with a suffix that clients add to its URL", async () => {
    const plain = await consumer.get(SCHEMAS);
    for (const suffix of ["/clusters/*", `/clusters/${consumer.cluster}`]) {
      expect((await consumer.view(suffix).get(SCHEMAS)).text, suffix).to.equal(plain.text);
      expect((await consumer.view(suffix).get(`${SCHEMAS}/${WIDGETS}`)).status, suffix).to.equal(200);
      expect((await consumer.view(suffix).get("/apis/apis.kcp.io/v1alpha1")).status, suffix).to.equal(200);
    }
  });

  it("selects by labels and fields, and pages", async () => {
    const path = `/clusters/${other.cluster}${SCHEMAS}/v1.sprockets.example.dev` as const;
    const labelled = await server.send(
      `PATCH ${path}`,
      { metadata: { labels: { part: "small" } } },
      { ...MERGE, ...root },
    );
    expect(labelled.status, labelled.text).to.equal(200);
    await untilAnswer(
      () => consumer.get(`${SCHEMAS}?labelSelector=part%3Dsmall`),
      ({ body }) => body.items.length === 1,
    );
    expect(schemasIn(await consumer.get(`${SCHEMAS}?labelSelector=part!%3Dsmall`))).to.not.include(
      "v1.sprockets.example.dev",
    );
    expect(schemasIn(await consumer.get(`${SCHEMAS}?fieldSelector=metadata.name%3D${WIDGETS}`))).to.deep.equal([
      WIDGETS,
    ]);
    const all = (await consumer.get(SCHEMAS)).body.items;
    const paged: object[] = [];
    for (let next = ""; ; ) {
      const { body } = await consumer.get(`${SCHEMAS}?limit=2${next}`);
      paged.push(...body.items);
      expect(body.items.length).to.be.at.most(2);
      if (body.metadata.continue === undefined) break;
      next = `&continue=${encodeURIComponent(body.metadata.continue)}`;
    }
    expect(paged).to.deep.equal(all);
  });

  it("has discovery, OpenAPI and a table", async () => {
    const { body } = await consumer.get("/apis/apis.kcp.io/v1alpha1");
    const found = body.resources.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs.join()]);
    expect(found).to.deep.equal([["apiresourceschemas", "get,list,watch"]]);
    expect((await consumer.get("/openapi/v3/apis/apis.kcp.io/v1alpha1")).status).to.equal(200);
    const table = await consumer.get(SCHEMAS, TABLE);
    expect(table.body.columnDefinitions.map(({ name }: { name: string }) => name)).to.deep.equal(["Name", "Age"]);
  });

  it("has no schema that is not bound", async () => {
    for (const name of ["v2.widgets.example.dev", "nothing"]) {
      const { status, body } = await consumer.get(`${SCHEMAS}/${name}`);
      expect([status, body.reason, body.details?.kind]).to.deep.equal([404, "NotFound", "apiresourceschemas"]);
    }
    // Another export already provides the resource, so the binding cannot become Bound.
    await other.post(other.cluster, SCHEMAS, schemaOf("v3"));
    await other.post(other.cluster, `${APIS}/apiexports`, exportOf("rivals", ["v3.widgets.example.dev"]));
    await consumer.bind("rivals", `${other.cluster}:rivals`, "Binding");
    expect(schemasIn(await consumer.get(SCHEMAS))).to.not.include("v3.widgets.example.dev");
    expect((await consumer.get(`${SCHEMAS}/v3.widgets.example.dev`)).status).to.equal(404);
    await consumer.unbind("rivals");
  });

  it("shows the workspace's own of two schemas with one name, and the other when that is deleted", async () => {
    const [one, two] = [await Provider.make(server, "rival-1"), await Provider.make(server, "rival-2")];
    const [first, last] = one.cluster < two.cluster ? [one, two] : [two, one];
    // The first by name is not the bound one: this export names a schema with that name afterwards.
    const schemas = `/clusters/${first.cluster}${APIS}/apiexports` as const;
    await first.post(first.cluster, `${APIS}/apiexports`, exportOf("empty", []));
    const both = await Consumer.make(server, "both");
    await both.bind("later", `${first.cluster}:empty`);
    await both.bind("widgets", `${last.cluster}:widgets`);
    const resources = [{ group: "example.dev", name: "widgets", schema: WIDGETS, storage: { crd: {} } }];
    await using watch = await both.view().watch(`${SCHEMAS}?watch=true&fieldSelector=metadata.name%3D${WIDGETS}`);
    const seen = await watch.next();
    expect([seen.type, seen.object.metadata.annotations?.["kcp.io/cluster"]]).to.deep.equal(["ADDED", last.cluster]);
    const changed = await server.send(`PATCH ${schemas}/empty`, { spec: { resources } }, { ...MERGE, ...root });
    expect(changed.status, changed.text).to.equal(200);
    const list = await both.get(SCHEMAS);
    expect(schemasIn(list)).to.deep.equal([WIDGETS]);
    expect((await both.get(`${SCHEMAS}/${WIDGETS}`)).body.metadata.annotations["kcp.io/cluster"]).to.equal(
      last.cluster,
    );
    await both.unbind("widgets");
    const left = await watch.until(({ type }) => type === "ADDED");
    expect(left.map(({ type, object }) => [type, object.metadata.annotations?.["kcp.io/cluster"]])).to.deep.equal([
      ["DELETED", last.cluster],
      ["ADDED", first.cluster],
    ]);
    const [gone, come] = left.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(come).to.be.above(gone ?? 0);
  });

  it("is empty in a workspace without bindings, until it binds something", async () => {
    const bare = await Consumer.make(server, "bare");
    const bindings = `/clusters/${bare.cluster}${APIS}/apibindings` as const;
    const { body } = await server.get(bindings, root);
    for (const { metadata } of body.items) await server.send(`DELETE ${bindings}/${metadata.name}`, undefined, root);
    const none = await untilAnswer(
      () => bare.get(SCHEMAS),
      ({ status }) => status !== 200,
    );
    expect(outcome(none).slice(0, 2)).to.deep.equal([404, "NotFound"]);
    expect((await bare.get("/apis")).body.groups).to.deep.equal([]);
    await bare.bind("widgets", `${provider.cluster}:widgets`);
    const some = await untilAnswer(
      () => bare.get(SCHEMAS),
      ({ status }) => status === 200,
    );
    expect(schemasIn(some)).to.deep.equal([WIDGETS]);
  });
});
