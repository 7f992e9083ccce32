// Metadata-only clients, kinds by identity, and discovery of a single kind.

import { Client, Informer } from "@virtual-workspaces/client";
import { Workspace } from "@virtual-workspaces/kcp";
import { memoryStore } from "@virtual-workspaces/store";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { startWorkspaces } from "../../workspace-server/support/workspaces.ts";
import { Fleet, startFleets } from "../fleets.ts";
import { apiError } from "../thrown.ts";

const NORTH = { metadata: { name: "north", namespace: "sea", labels: { a: "b" } }, spec: { ships: 2 } };
const PARTIAL = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };

describe("a metadata client", () => {
  it("reads, lists, watches, patches and deletes objects without their other fields", async () => {
    await using at = await startFleets();
    await at.client.resource(Fleet).create(NORTH);
    const fleets = at.client.metadata(Fleet).in("sea");
    const one = await fleets.get("north");
    expect(one).to.deep.include(PARTIAL).and.not.have.property("spec");
    expect(one.metadata.labels).to.deep.equal({ a: "b" });
    const { items } = await at.client.metadata(Fleet).list();
    expect(items).to.deep.equal([one]);
    const patched = await fleets.mergePatch("north", { metadata: { labels: { a: "c" } } });
    expect(patched).to.deep.include(PARTIAL).and.not.have.property("spec");
    for await (const { type, object } of fleets.watch({ resourceVersion: one.metadata.resourceVersion ?? "" })) {
      expect([type, object]).to.deep.equal(["MODIFIED", patched]);
      break;
    }
    await fleets.delete("north");
    expect((await apiError(fleets.get("north"))).code).to.equal(404);
  });

  it("works with an informer, by watch and in pages", async () => {
    await using at = await startFleets();
    await at.client.resource(Fleet).create(NORTH);
    for (const initialDeadline of [5000, 1]) {
      await using informer = new Informer({ resource: at.client.metadata(Fleet), initialDeadline });
      await informer.start().synced;
      const [found] = informer.store.list();
      expect(found).to.deep.include(PARTIAL).and.not.have.property("spec");
    }
  });
});

describe("a client of a kind by its identity", () => {
  it("requests that identity in all logical clusters, and rejects invalid ones", async () => {
    await using store = memoryStore();
    await using server = await startWorkspaces(store);
    const token = { get: () => ({ headers: ["Authorization", "Bearer root"] }) };
    await using upstream = new Upstream({ url: server.url, credentials: token });
    const exported = "/clusters/root/apis/apis.kcp.io/v1alpha1/apiexports/tenancy.kcp.io";
    const identity: string = (await server.get(exported, { user: "root" })).body.status.identityHash;
    const client = new Client({ upstream, cluster: "*" });
    expect((await apiError(client.resource(Workspace).list())).code).to.equal(404);
    expect((await client.resource(Workspace, { identity }).list()).kind).to.equal("WorkspaceList");
    for (const wrong of ["a/b", "", "a:b", ".."])
      expect(() => client.resource(Workspace, { identity: wrong }), wrong).to.throw(
        /^invalid identity ".*" of a kind: use letters/,
      );
  });
});

describe("discovery of one kind", () => {
  it("requests one document each time, and caches nothing", async () => {
    await using at = await startFleets();
    const discovery = at.client.discovery();
    const asked = (): number => at.client.upstream.stats.requests;
    const found = await discovery.look({ group: "test.dev", version: "v1", kind: "Fleet" });
    expect(found).to.deep.include({ plural: "fleets", scope: "Namespaced" });
    for (const other of [
      { group: "test.dev", version: "v2", kind: "Fleet" },
      { group: "other.dev", version: "v1", kind: "Fleet" },
      { group: "test.dev", version: "v1", kind: "Boat" },
      { group: "", version: "v1", kind: "Fleet" },
    ])
      expect(await discovery.look(other)).to.equal(undefined);
    expect(asked()).to.equal(5);
    const { code } = await apiError(discovery.look({ group: "..", version: "v1", kind: "Fleet" }));
    expect([code, asked()]).to.deep.equal([400, 5]);
  });
});
