// A kind with several versions: one set of objects with one history of resource versions.
import { converted, defineResource, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import { BETA, beta, serve, V1, v1beta1, Widget, WidgetV1beta1 } from "./converted-kinds.ts";
import { APPLY, MERGE, outcome } from "./lens-kinds.ts";

describe("a kind in several versions", () => {
  it("has the same objects in all of them: uids, resource versions, metadata", async () => {
    const widgets = Widget.collection();
    widgets.in("root").set("a", { millimetres: 5, colour: "red" }, { labels: { l: "x" } });
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(v1beta1(widgets)));
    const [v1, old] = [(await server.get(`${V1}/a`)).body, (await server.get(`${BETA}/a`)).body];
    expect(old.spec).to.deep.equal({ size: "5mm", colour: "red" });
    expect(old.apiVersion).to.equal("test.dev/v1beta1");
    expect(old.metadata).to.deep.equal(v1.metadata);
    const [list, oldList] = [(await server.get(V1)).body, (await server.get(BETA)).body];
    expect(oldList.metadata).to.deep.equal(list.metadata);
    expect(oldList).to.include({ apiVersion: "test.dev/v1beta1", kind: "WidgetList" });
    expect(oldList.items).to.deep.equal([old]);
    const table = await server.get(BETA, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    expect(table.body.rows[0].cells.slice(0, 2)).to.deep.equal(["a", "5mm"]);
  });

  it("can be written in each of them, and is validated by the rules of the stored version", async () => {
    const widgets = Widget.collection();
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(v1beta1(widgets)));
    const created = await server.send(`POST ${BETA}`, beta("a", { size: "5mm" }, { labels: { l: "x" } }));
    expect(created.status).to.equal(201);
    expect(created.body.spec).to.deep.equal({ size: "5mm" });
    const kept = widgets.in("root").get("a");
    expect(kept).to.deep.include({ apiVersion: "test.dev/v1", spec: { millimetres: 5 } });
    expect(kept?.metadata.uid).to.equal(created.body.metadata.uid);
    expect((await server.get(`${BETA}/a`)).body).to.deep.equal(created.body);
    const own = await server.send(`POST ${BETA}`, beta("b", { size: "wide" }));
    expect(own.body.message).to.contain("spec.size").and.not.contain("kept");
    const below = await server.send(`POST ${BETA}`, beta("b", { size: "-5mm" }));
    expect(below.body.message).to.match(
      /^Widget\.test\.dev "b" is invalid: spec\.millimetres: .* \(a field of version v1, in which this Widget is kept\)$/,
    );
    expect((await server.send(`POST ${BETA}`, beta("a", { size: "1mm" }))).body.reason).to.equal("AlreadyExists");
    const updated = await server.send(`PUT ${BETA}/a`, { ...created.body, spec: { size: "6mm" } });
    expect(updated.body.metadata.generation).to.equal(2);
    expect((await server.send(`PUT ${BETA}/a`, { ...created.body, spec: { size: "7mm" } })).status).to.equal(409);
    expect((await server.send(`PATCH ${BETA}/a`, { spec: { size: "8mm" } }, MERGE)).body.spec.size).to.equal("8mm");
    expect((await server.send(`PATCH ${V1}/a`, { spec: { millimetres: 9 } }, MERGE)).status).to.equal(200);
    const { body: now } = await server.get(`${BETA}/a`);
    expect(now.spec.size).to.equal("9mm");
    const noted = await server.send(`PUT ${BETA}/a/status`, { ...now, spec: { size: "1mm" }, status: { phase: "x" } });
    expect(noted.body).to.deep.include({ spec: now.spec, status: { phase: "x" } });
    expect(widgets.in("root").get("a")).to.deep.include({ spec: { millimetres: 9 }, status: { phase: "x" } });
    const same = await server.send(`PUT ${BETA}/a`, noted.body);
    expect(same.body.metadata.resourceVersion).to.equal(noted.body.metadata.resourceVersion);
    const dry = await server.send(`PATCH ${BETA}/a?dryRun=All`, { spec: { size: "3mm" } }, MERGE);
    expect(dry.body.spec.size).to.equal("3mm");
    expect(dry.body.apiVersion).to.equal("test.dev/v1beta1");
    const { uid, resourceVersion } = noted.body.metadata;
    expect((await server.send(`DELETE ${BETA}/a`, { preconditions: { uid: "other" } })).status).to.equal(409);
    expect((await server.send(`DELETE ${BETA}/a`, { preconditions: { uid, resourceVersion } })).status).to.equal(200);
    expect(widgets.in("root").list()).to.deep.equal([]);
  });

  it("has one history: a list in one version can be watched in another, from before its first read", async () => {
    const widgets = Widget.collection();
    const here = widgets.in("root");
    here.set("a", { millimetres: 1 });
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(v1beta1(widgets)));
    const { body: list } = await server.get(V1);
    here.set("a", { millimetres: 2 });
    here.set("b", { millimetres: 3 });
    here.delete("a");
    await using watch = await server.watch(`${BETA}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
    await using both = await server.watch(`${V1}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
    for (const expected of ["MODIFIED a", "ADDED b", "DELETED a"]) {
      const [old, v1] = [await watch.next(), await both.next()];
      expect(label(old)).to.equal(expected);
      expect(label(v1)).to.equal(expected);
      expect(old.object.metadata).to.deep.equal(v1.object.metadata);
      expect(old.object["spec"]).to.have.property("size");
    }
    const past = await server.get(
      `${BETA}?resourceVersion=${list.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    );
    expect(past.body.items.map(({ spec }: { spec: object }) => spec)).to.deep.equal([{ size: "1mm" }]);
    const page = await server.get(`${V1}?limit=1`);
    expect(page.status).to.equal(200);
  });

  it("selects by the fields of the requested version", async () => {
    const widgets = Widget.collection();
    for (const n of [1, 2, 3]) widgets.in("root").set(`w${n}`, { millimetres: n });
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(v1beta1(widgets)));
    const names = async (path: string): Promise<string[]> =>
      (await server.get(path)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    expect(await names(`${BETA}?fieldSelector=spec.size%3D2mm`)).to.deep.equal(["w2"]);
    expect(await names(`${V1}?fieldSelector=spec.millimetres%3D3`)).to.deep.equal(["w3"]);
    expect((await server.get(`${BETA}?fieldSelector=spec.millimetres%3D3`)).status).to.equal(400);
    await using watch = await server.watch(`${BETA}?watch=true&fieldSelector=spec.size%3D2mm`);
    expect(label(await watch.next())).to.equal("ADDED w2");
    widgets.in("root").set("w2", { millimetres: 9 });
    expect(label(await watch.next())).to.equal("DELETED w2");
  });

  it("records field managers in the versions that they wrote", async () => {
    const widgets = Widget.collection();
    // Served before the other version is known, as modules may do.
    const v1 = Widget.serve(widgets);
    await using server = await serve(v1, WidgetV1beta1.serve(v1beta1(widgets)));
    const apply = (path: `/${string}`, spec: object, query = "") => {
      const [version, manager] = path === BETA ? ["v1beta1", "old"] : ["v1", "new"];
      const config = { apiVersion: `test.dev/${version}`, kind: "Widget", metadata: { name: "a" }, spec };
      return server.send(`PATCH ${path}/a?fieldManager=${manager}${query}`, JSON.stringify(config), APPLY);
    };
    expect((await apply(BETA, { size: "5mm" })).status).to.equal(201);
    const conflict = await apply(V1, { millimetres: 6, colour: "red" });
    expect(outcome(conflict).slice(0, 2)).to.deep.equal([409, "Conflict"]);
    expect(conflict.body.message).to.contain('conflict with "old": .spec.size');
    const shared = await apply(V1, { millimetres: 5, colour: "red" });
    expect(shared.status).to.equal(200);
    const owners = shared.body.metadata.managedFields.map(
      ({ manager, apiVersion, fieldsV1 }: { manager: string; apiVersion: string; fieldsV1: object }) => [
        manager,
        apiVersion,
        Object.keys((fieldsV1 as { "f:spec": object })["f:spec"]).sort(),
      ],
    );
    expect(owners).to.have.deep.members([
      ["new", "test.dev/v1", ["f:colour", "f:millimetres"]],
      ["old", "test.dev/v1beta1", ["f:size"]],
    ]);
    const forced = await apply(BETA, { size: "7mm" }, "&force=true");
    expect(forced.body.spec).to.deep.equal({ size: "7mm", colour: "red" });
    const managed = JSON.stringify(forced.body.metadata.managedFields);
    expect(managed).to.contain("f:size").and.contain("f:colour").and.not.contain("f:millimetres");
  });

  it("can chain conversions, and keeps field managers through all of them", async () => {
    const widgets = Widget.collection();
    const middle = v1beta1(widgets);
    const Oldest = defineResource({
      group: "test.dev",
      kind: "Widget",
      scope: "Cluster",
      version: "v1alpha1",
      spec: { type: "object", required: ["width"], properties: { width: { type: "string" } } },
    });
    const oldest = converted({
      from: middle,
      to: Oldest,
      read: ({ spec }) => ({ spec: { width: `${spec.size} wide` } }),
      write: ({ spec }) => ({ spec: { size: spec.width.replace(" wide", "") } }),
    });
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(middle), Oldest.serve(oldest));
    const path = "/services/w/clusters/root/apis/test.dev/v1alpha1/widgets/a" as const;
    const config = (version: string, spec: object): string =>
      JSON.stringify({ apiVersion: `test.dev/${version}`, kind: "Widget", metadata: { name: "a" }, spec });
    const made = await server.send(`PATCH ${path}?fieldManager=old`, config("v1alpha1", { width: "5mm wide" }), APPLY);
    expect(made.status).to.equal(201);
    expect(widgets.in("root").get("a")?.spec).to.deep.equal({ millimetres: 5 });
    const other = await server.send(`PATCH ${V1}/a?fieldManager=new`, config("v1", { millimetres: 6 }), APPLY);
    expect(other.body.message).to.contain('conflict with "old": .spec.width');
    const back = await server.send(
      `PATCH ${V1}/a?fieldManager=new&force=true`,
      config("v1", { millimetres: 6 }),
      APPLY,
    );
    expect(back.status).to.equal(200);
    expect((await server.get(path)).body).to.deep.include({ spec: { width: "6mm wide" } });
    const again = await server.send(`PATCH ${path}?fieldManager=old`, config("v1alpha1", { width: "7mm wide" }), APPLY);
    expect(again.body.message).to.contain('conflict with "new": .spec.millimetres');
  });

  it("needs no functions if its versions differ only in name, whatever the objects contain", async () => {
    const schema = {
      type: "object",
      properties: { data: { type: "object", additionalProperties: { type: "string" } } },
    } as const;
    const kind = { group: "test.dev", kind: "Config", scope: "Namespaced", schema } as const;
    const [Config, Old] = [defineResource({ ...kind, version: "v2" }), defineResource({ ...kind, version: "v1" })];
    const configs = Config.collection();
    await using server = await serve(Config.serve(configs), Old.serve(converted({ from: configs, to: Old })));
    const path = "/services/w/clusters/root/apis/test.dev/v1/namespaces/ns/configs" as const;
    const sent = { apiVersion: "test.dev/v1", kind: "Config", metadata: { name: "a" }, data: { key: "value" } };
    expect((await server.send(`POST ${path}`, sent)).body).to.deep.include({
      apiVersion: "test.dev/v1",
      data: sent.data,
    });
    expect(configs.in("root", "ns").get("a")).to.deep.include({ apiVersion: "test.dev/v2", data: sent.data });
  });

  it("is advertised in discovery, preferred version first, with the hash of the stored version", async () => {
    const widgets = Widget.collection();
    await using server = await serve(WidgetV1beta1.serve(v1beta1(widgets)), Widget.serve(widgets));
    const root = "/services/w/clusters/root/apis" as const;
    const { body: groups } = await server.get(root);
    expect(groups.groups[0].versions.map(({ version }: { version: string }) => version)).to.deep.equal([
      "v1",
      "v1beta1",
    ]);
    const hash = async (version: string): Promise<string> =>
      (await server.get(`${root}/test.dev/${version}`)).body.resources[0].storageVersionHash;
    expect(await hash("v1beta1")).to.equal(await hash("v1"));
    expect((await server.get("/services/w/clusters/root/openapi/v3")).body.paths).to.include.keys(
      "apis/test.dev/v1",
      "apis/test.dev/v1beta1",
    );
  });

  it("can be read through a writable view, in a version that is not stored", async () => {
    const widgets = Widget.collection();
    widgets.in("root").set("a", { millimetres: 5, colour: "red" });
    widgets.in("root").set("b", { millimetres: 5, colour: "blue" });
    const red = view({
      from: v1beta1(widgets),
      select: ({ spec }) => spec.colour === "red",
      mapToSource: (object) => object,
    });
    await using server = await serve(WidgetV1beta1.serve(red));
    expect((await server.get(BETA)).body.items).to.have.length(1);
    const patched = await server.send(`PATCH ${BETA}/a`, { spec: { size: "6mm" } }, MERGE);
    expect(patched.body.spec).to.deep.equal({ size: "6mm", colour: "red" });
    expect(widgets.in("root").get("a")?.spec.millimetres).to.equal(6);
    const leaves = await server.send(`PATCH ${BETA}/a`, { spec: { colour: "blue" } }, MERGE);
    expect(leaves.status).to.equal(403);
    expect((await server.send(`PATCH ${BETA}/a`, { spec: { size: "-6mm" } }, MERGE)).status).to.equal(422);
    expect((await server.send(`DELETE ${BETA}/b`)).status).to.equal(404);
  });
});
