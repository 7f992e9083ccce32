import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import { Client, keyOf } from "@virtual-workspaces/client";
import { expect } from "chai";
import { Fleet, startFleets } from "../fleets.ts";
import { apiError } from "../thrown.ts";

const NORTH = { metadata: { name: "north", namespace: "sea" }, spec: { ships: 2 } };

describe("ResourceClient", () => {
  let at: Awaited<ReturnType<typeof startFleets>>;
  beforeEach(async () => {
    at = await startFleets();
  });
  afterEach(() => at[Symbol.asyncDispose]());

  it("creates, reads, replaces, applies and deletes", async () => {
    const fleets = at.client.resource(Fleet).in("sea");
    const created = await fleets.create(NORTH);
    expect(created.spec).to.deep.equal({ ships: 2 });
    expect(created.metadata.managedFields?.[0]?.manager).to.equal("virtual-workspaces");
    const updated = await fleets.update({ ...created, spec: { ships: 3 } }, { fieldManager: "other" });
    expect((await fleets.get("north")).metadata.resourceVersion).to.equal(updated.metadata.resourceVersion);
    expect((await apiError(fleets.update({ ...created, spec: { ships: 4 } }))).reason).to.equal("Conflict");
    const conflict = await apiError(fleets.apply({ metadata: { name: "north" }, spec: { ships: 5 } }));
    expect([conflict.code, conflict.status.details?.causes?.[0]?.field]).to.deep.equal([409, ".spec.ships"]);
    expect(
      (await fleets.apply({ metadata: { name: "north" }, spec: { ships: 5 } }, { force: true })).spec,
    ).to.deep.equal({ ships: 5 });
    const precondition = await apiError(fleets.delete("north", { preconditions: { uid: "another" } }));
    expect(precondition.reason).to.equal("Conflict");
    await fleets.delete("north");
    expect((await apiError(fleets.get("north"))).status).to.deep.include({ reason: "NotFound", code: 404 });
  });

  it("sends exactly the requested type of patch", async () => {
    const fleets = at.client.resource(Fleet).in("sea");
    await fleets.create(NORTH);
    expect((await fleets.mergePatch("north", { metadata: { labels: { a: "b" } } })).metadata.labels).to.deep.equal({
      a: "b",
    });
    const steps = [{ op: "replace", path: "/spec/ships", value: 4 }] as const;
    expect((await fleets.jsonPatch("north", steps)).spec).to.deep.equal({ ships: 4 });
    expect((await apiError(fleets.strategicMergePatch("north", { spec: {} }))).code).to.equal(415);
    expect((await apiError(fleets.mergePatch("north", steps as never))).message).to.include("use jsonPatch");
    expect((await apiError(fleets.jsonPatch("north", {} as never))).message).to.include("use mergePatch");
    expect((await fleets.mergePatch("north", { spec: { ships: 9 } }, { dryRun: true })).spec).to.deep.equal({
      ships: 9,
    });
    expect((await fleets.get("north")).spec).to.deep.equal({ ships: 4 });
    const strict = fleets.mergePatch("north", { spec: { shps: 1 } }, { fieldValidation: "Strict" });
    expect((await apiError(strict)).message).to.include('unknown field "spec.shps"');
  });

  it("writes only the status, and the scale", async () => {
    const fleets = at.client.resource(Fleet).in("sea");
    const created = await fleets.create(NORTH);
    const { spec, status } = await fleets.status.update({
      ...created,
      spec: { ships: 9 },
      status: { phase: "At sea" },
    });
    expect([spec, status]).to.deep.equal([{ ships: 2 }, { phase: "At sea" }]);
    expect((await fleets.status.mergePatch("north", { status: { ships: 1 } })).status).to.deep.equal({
      phase: "At sea",
      ships: 1,
    });
    expect((await fleets.status.get("north")).status).to.deep.equal({ phase: "At sea", ships: 1 });
    const applied = await fleets.status.apply(
      { ...typed, metadata: { name: "north" }, status: { phase: "Home" } },
      { force: true },
    );
    expect(applied.status?.phase).to.equal("Home");
    const scale = await fleets.scale.get("north");
    expect([scale.kind, scale.spec.replicas, scale.status?.replicas]).to.deep.equal(["Scale", 2, 1]);
    expect((await fleets.scale.update({ ...scale, spec: { replicas: 7 } })).spec.replicas).to.equal(7);
    expect((await fleets.get("north")).spec?.ships).to.equal(7);
    expect((await apiError(fleets.subresource("dance").get("north"))).code).to.equal(404);
  });

  it("preserves 64-bit integers in both directions", async () => {
    const fleets = at.client.resource(Fleet).in("sea");
    const big = 9_007_199_254_740_993n;
    const created = await fleets.create({ ...NORTH, spec: { big: big as unknown as number } });
    expect(created.spec?.big).to.equal(big);
    const updated = await fleets.update({ ...created, metadata: { ...created.metadata, labels: { a: "b" } } });
    expect(updated.spec?.big).to.equal(big);
  });

  it("lists and deletes selected objects, in one namespace or all", async () => {
    const fleets = at.client.resource(Fleet);
    for (const [name, namespace, colour] of [
      ["a", "sea", "red"],
      ["b", "sea", "blue"],
      ["c", "lake", "red"],
    ] as const)
      await fleets.create({ metadata: { name, namespace, labels: { colour } }, spec: {} });
    const names = async (): Promise<unknown> => (await fleets.list()).items.map(({ metadata }) => metadata.name).sort();
    expect((await fleets.list({ labels: "colour=red" })).items).to.have.length(2);
    expect((await fleets.in("sea").list({ fields: "metadata.name=b" })).items[0]?.kind).to.equal("Fleet");
    await fleets.in("sea").deleteCollection({ labels: "colour=red", dryRun: true });
    expect(await names()).to.deep.equal(["a", "b", "c"]);
    await fleets.in("sea").deleteCollection({ labels: "colour=red" });
    expect(await names()).to.deep.equal(["b", "c"]);
  });

  it("uses the namespace of the object, and rejects two or none without a request", async () => {
    const fleets = at.client.resource(Fleet);
    await fleets.create(NORTH);
    await fleets.apply({ ...NORTH, spec: { ships: 3 } }, { force: true });
    const before = at.client.upstream.stats.requests;
    expect((await apiError(fleets.in("lake").create(NORTH))).message).to.include('in("lake")');
    expect((await apiError(fleets.get("north"))).message).to.include("has no namespace: use in(namespace)");
    expect((await apiError(fleets.update({ ...typed, metadata: { namespace: "sea" }, spec: {} }))).message).to.include(
      "name is empty: set it",
    );
    expect(at.client.upstream.stats.requests).to.equal(before);
  });

  it("never leaves its path, whatever the names are", async () => {
    const fleets = at.client.resource(Fleet).in("sea");
    const before = at.client.upstream.stats.requests;
    for (const name of ["..", ".", "a/b", "../../secrets/x", "a%2fb", "", "a\nb", "\ud800"]) {
      expect((await apiError(fleets.get(name))).code, name).to.equal(400);
      expect(
        (
          await apiError(
            at.client
              .resource(Fleet)
              .in(name === "" ? ".." : name)
              .list(),
          )
        ).code,
        name,
      ).to.equal(400);
      expect((await apiError(fleets.subresource(name === "" ? ".." : name).get("x"))).code, name).to.equal(400);
      expect(() => at.client.cluster(name), name).to.throw("invalid cluster");
    }
    expect(() => at.client.resource({ ...Fleet, plural: "../x" })).to.throw("plural");
    expect(() => at.client.resource({ ...Fleet, group: "a/b" })).to.throw("group");
    for (const plural of ["fleets:", "fleets:../x", "fleets:a:b", ":a"])
      expect(() => at.client.resource({ ...Fleet, plural }), plural).to.throw("of a kind: use letters");
    expect(at.client.resource({ ...Fleet, plural: "fleets:0a1b" }).kind.plural).to.equal("fleets:0a1b");
    expect(at.client.upstream.stats.requests).to.equal(before);
    expect((await apiError(fleets.get("system:x?watch=true#"))).message).to.include('"system:x?watch=true#" not found');
  });
});

const typed = { apiVersion: "test.dev/v1", kind: "Fleet" };

describe("a client of all logical clusters", () => {
  it("separates them by their annotation, and rejects writes without a request", async () => {
    await using at = await startFleets();
    for (const cluster of ["one", "two"]) await at.client.cluster(cluster).resource(Fleet).create(NORTH);
    const all = at.client.cluster("*");
    const { items } = await all.resource(Fleet).list();
    expect(items.map((item) => keyOf(item, all))).to.have.deep.members([
      { cluster: "one", namespace: "sea", name: "north" },
      { cluster: "two", namespace: "sea", name: "north" },
    ]);
    const before = all.upstream.stats.requests;
    const fleets = all.resource(Fleet).in("sea");
    const [item] = items;
    if (item === undefined) expect.fail("nothing is listed");
    for (const write of [
      fleets.create(NORTH),
      fleets.update(item),
      fleets.apply(NORTH),
      fleets.delete("north"),
      fleets.deleteCollection(),
      fleets.status.mergePatch("north", {}),
    ])
      expect((await apiError(write)).message).to.include("client.cluster(keyOf(object, client).cluster)");
    expect(all.upstream.stats.requests).to.equal(before);
    const own = all.cluster(keyOf(item, all).cluster).resource(Fleet);
    expect((await own.apply({ ...NORTH, spec: { ships: 1 } }, { force: true })).spec?.ships).to.equal(1);
    expect(() => keyOf({ metadata: { name: "x" } }, all)).to.throw(CLUSTER_ANNOTATION);
    expect(keyOf(item, own)).to.include({ namespace: "sea", name: "north" });
  });

  it("can be created from a URL too", async () => {
    await using at = await startFleets();
    await using split = new Client({ upstream: { url: `${at.url}/clusters/*` } });
    expect([split.clusterName, split.cluster("root").clusterName, split.upstream.url]).to.deep.equal([
      "*",
      "root",
      at.url,
    ]);
    expect(split.as({ name: "ann" }).clusterName).to.equal("*");
  });
});
