// Reads in the view of an export: lists, gets and watches of bound workspaces, in all of them and in one.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { labelOf, openWatch } from "../../_support/web-socket.ts";
import { APIS } from "../../workspace-server/bindings/support/shard.ts";
import { makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { namesOf, Provider, startViewed, WIDGETS, widget, widgetSchema } from "./support/provider.ts";

const TABLE = { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } };
const root = { user: "root" };

describe("the view of an export", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  let one: string;
  let two: string;

  before(async () => {
    server = await startViewed();
    provider = await Provider.make(server);
    one = await provider.consumer("one");
    two = await provider.consumer("two");
    await provider.post(one, WIDGETS, widget("a"));
    await provider.post(two, WIDGETS, widget("b", 2));
  });

  after(() => server[Symbol.asyncDispose]());

  it("lists the objects of all bound workspaces, and of one", async () => {
    const all = await provider.get(WIDGETS);
    expect(all.status, all.text).to.equal(200);
    expect(namesOf(all)).to.deep.equal([`${one}/a`, `${two}/b`].sort());
    expect(namesOf(await provider.in(one).get(WIDGETS))).to.deep.equal([`${one}/a`]);
    expect((await provider.in(one).get(`${WIDGETS}/a`)).body.spec).to.deep.equal({ size: 1 });
    expect((await provider.in(two).get(`${WIDGETS}/a`)).status).to.equal(404);
    const direct = await server.get(`/clusters/${one}${WIDGETS}/a`, root);
    expect((await provider.in(one).get(`${WIDGETS}/a`)).text).to.equal(direct.text);
  });

  it("serves all versions of the schema with columns and pages", async () => {
    const older = await provider.get(WIDGETS.replace("/v1/", "/v1beta1/"));
    expect(older.body.items.map(({ apiVersion }: { apiVersion: string }) => apiVersion)).to.deep.equal([
      "example.dev/v1beta1",
      "example.dev/v1beta1",
    ]);
    const { body } = await provider.in(one).get(WIDGETS, TABLE);
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).to.deep.equal(["Name", "Size"]);
    expect(body.rows[0].cells).to.deep.equal(["a", 1]);
    const page = await provider.get(`${WIDGETS}?limit=1`);
    expect(page.body.items).to.have.length(1);
    const token = encodeURIComponent(page.body.metadata.continue);
    expect((await provider.get(`${WIDGETS}?limit=1&continue=${token}`)).body.items).to.have.length(1);
  });

  it("has discovery and OpenAPI like any API server", async () => {
    const groups = await provider.in(one).get("/apis");
    expect(groups.body.groups.map(({ name }: { name: string }) => name)).to.deep.equal(["apis.kcp.io", "example.dev"]);
    const { body } = await provider.get("/apis/example.dev/v1");
    const found = body.resources.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs.join()]);
    expect(found).to.deep.equal([
      ["widgets", "create,delete,deletecollection,get,list,patch,update,watch"],
      ["widgets/status", "get,patch,update"],
    ]);
    const bindings = (await provider.get(APIS)).body.resources;
    expect(bindings.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs.join()])).to.deep.equal([
      ["apibindings", "get,list,watch"],
    ]);
    const openapi = await provider.in(one).get("/openapi/v3/apis/example.dev/v1");
    const [schema] = Object.entries(openapi.body.components.schemas).filter(([name]) => name.endsWith("Widget"));
    expect(schema?.[1]).to.have.nested.property("properties.spec.properties.size.type", "integer");
  });

  it("watches all workspaces through one upstream watch, and one workspace", async () => {
    const { resourceVersion } = (await provider.get(WIDGETS)).body.metadata;
    await using everywhere = await provider.watch(`${WIDGETS}?watch=true&resourceVersion=${resourceVersion}`);
    await using there = await provider.in(two).watch(`${WIDGETS}?watch=true&resourceVersion=0`);
    expect(await there.take(1)).to.deep.equal(["ADDED b"]);
    const path = provider.url(`${WIDGETS}?watch=true&resourceVersion=${resourceVersion}`);
    using socket = await openWatch(server.url, path);
    await provider.post(one, WIDGETS, widget("w"));
    await server.send(`PATCH /clusters/${two}${WIDGETS}/b`, { spec: { size: 3 } }, { ...MERGE, ...root });
    await server.send(`DELETE /clusters/${one}${WIDGETS}/w`, undefined, root);
    expect(await everywhere.take(3)).to.deep.equal(["ADDED w", "MODIFIED b", "DELETED w"]);
    const told = [await socket.next(), await socket.next(), await socket.next()].map(labelOf);
    expect(told).to.deep.equal(["ADDED w", "MODIFIED b", "DELETED w"]);
    expect(await there.take(1)).to.deep.equal(["MODIFIED b"]);
  });

  it("shows only the bindings to the export, unless others are claimed", async () => {
    for (const version of ["v1alpha1", "v1alpha2"]) {
      const path = `/apis/apis.kcp.io/${version}/apibindings`;
      expect(namesOf(await provider.get(path))).to.deep.equal([`${one}/widgets`, `${two}/widgets`].sort());
      expect(namesOf(await provider.in(one).get(path))).to.deep.equal([`${one}/widgets`]);
      expect((await provider.in(one).get(`${path}/tenancy.kcp.io`)).status).to.equal(404);
      expect((await provider.in(one).send(`DELETE ${path as "/"}/widgets`)).status).to.equal(403);
    }
  });

  it("has a separate status, which the export's users may write without rights in the workspace", async () => {
    const path = `${WIDGETS}/a/status`;
    expect((await server.get(`/clusters/${one}${WIDGETS}/a`)).status).to.equal(403);
    const written = await provider.in(one).send(`PATCH ${path}`, { status: { phase: "Up" } }, MERGE);
    expect([written.status, written.body.status]).to.deep.equal([200, { phase: "Up" }]);
    const made = await provider.in(one).send(`POST ${WIDGETS}`, widget("made"));
    expect(made.status, made.text).to.equal(201);
    expect((await provider.in(one).send(`PUT ${WIDGETS}/made`, { ...made.body, spec: { size: 9 } })).status).to.equal(
      200,
    );
    const invalid = await provider.in(one).send(`PATCH ${WIDGETS}/made`, { spec: { size: "many" } }, MERGE);
    expect(outcome(invalid).slice(0, 2)).to.deep.equal([422, "Invalid"]);
    expect((await provider.in(one).send(`DELETE ${WIDGETS}/made`)).status).to.equal(200);
  });

  it("is empty without bindings, and reports objects of the first binding", async () => {
    const other = await Provider.make(server, "lonely");
    const list = await other.get(WIDGETS);
    expect([list.status, list.body.kind, list.body.items]).to.deep.equal([200, "WidgetList", []]);
    await using watch = await other.watch(`${WIDGETS}?watch=true&resourceVersion=0`);
    const bound = await other.consumer("first");
    expect((await watch.next()).object.code).to.equal(410);
    await other.post(bound, WIDGETS, widget("first"));
    expect(namesOf(await other.get(WIDGETS))).to.deep.equal([`${bound}/first`]);
  });

  it("ends watches when the schema changes, and serves the new one", async () => {
    const other = await Provider.make(server, "changing");
    const bound = await other.consumer("follower");
    await using watch = await other.watch(`${WIDGETS}?watch=true&resourceVersion=0`);
    await using bindings = await other.watch(`${APIS}/apibindings?watch=true&resourceVersion=0`);
    expect(await bindings.take(1)).to.deep.equal(["ADDED widgets"]);
    const schema = widgetSchema("v2", {
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList", shortNames: ["wd"] },
    });
    await other.post(other.cluster, "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
    const resource = { group: "example.dev", name: "widgets", schema: "v2.widgets.example.dev", storage: { crd: {} } };
    const path = `/clusters/${other.cluster}${APIS}/apiexports/widgets` as const;
    await server.send(`PATCH ${path}`, { spec: { resources: [resource] } }, { ...MERGE, ...root });
    expect((await watch.rest()).at(-1)?.object.code).to.equal(410);
    const { body } = await other.get("/apis/example.dev/v1");
    expect(body.resources[0].shortNames).to.deep.equal(["wd"]);
    // The unchanged resource continues.
    await server.send(`DELETE /clusters/${bound}${APIS}/apibindings/widgets`, undefined, root);
    await bindings.until(({ type }) => type === "DELETED");
  });

  it("is empty after the deletion of its export", async () => {
    const other = await Provider.make(server, "going");
    await other.consumer("left");
    await using watch = await other.watch(`${WIDGETS}?watch=true&resourceVersion=0`);
    await server.send(`DELETE /clusters/${other.cluster}${APIS}/apiexports/widgets`, undefined, root);
    expect((await watch.rest()).at(-1)?.object.code).to.equal(410);
    const answer = await untilAnswer(
      () => other.get(WIDGETS),
      ({ status }) => status !== 200,
    );
    expect(outcome(answer).slice(0, 2)).to.deep.equal([404, "NotFound"]);
    expect((await other.get("/apis")).status).to.equal(404);
  });

  it("rejects writes and namespaces across all workspaces", async () => {
    const made = await provider.in("*").send(`POST ${WIDGETS}`, widget("x"));
    expect(outcome(made).slice(0, 2)).to.deep.equal([405, "MethodNotAllowed"]);
    expect(made.body.message).to.match(/ in the `\*` logical cluster$/);
    for (const call of [`PUT ${WIDGETS}/a`, `PATCH ${WIDGETS}/a`, `DELETE ${WIDGETS}/a`, `DELETE ${WIDGETS}`] as const)
      expect((await provider.in("*").send(call, widget("a"), MERGE)).status, call).to.equal(405);
    expect((await provider.get(`${WIDGETS}/a`)).status).to.equal(405);
  });

  it("does not exist in workspaces that have not bound it, by paths, or without a name", async () => {
    const unbound = await makeWorkspace(server, "unbound");
    const no = [403, "Forbidden"];
    const refused = await provider.in(unbound).get(WIDGETS);
    expect(outcome(refused).slice(0, 2)).to.deep.equal(no);
    expect(refused.body.message).to.match(/: access denied$/);
    expect(outcome(await provider.in("nowhere").get(WIDGETS)).slice(0, 2)).to.deep.equal(no);
    expect(outcome(await provider.in("root:one").get(WIDGETS)).slice(0, 2)).to.deep.equal(no);
    expect((await server.get(provider.url(WIDGETS, "root:one"), root)).status).to.equal(404);
    for (const path of [
      "",
      "/",
      `/${provider.cluster}`,
      `/${provider.cluster}/widgets`,
      `/${provider.cluster}/widgets/x`,
    ]) {
      expect((await server.get(`/services/apiexport${path}`)).status, path).to.equal(403);
      expect((await server.get(`/services/apiexport${path}`, root)).status, path).to.equal(404);
    }
    const byPath = await server.get(`/services/apiexport/root:provider/widgets/clusters/*${WIDGETS}`);
    expect(outcome(byPath).slice(0, 2)).to.deep.equal(no);
  });
});
