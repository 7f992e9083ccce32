// Discovery of kcp's views over all workspaces, which kcp's clients compare with a fixed list.
import { createHash } from "node:crypto";
import { expect } from "chai";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, Owner, root, startViewed } from "./support/owner.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describe("discovery of a view of waiting workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;

  before(async () => {
    server = await startViewed();
    owner = await Owner.make(server, { app: { initializer: true, terminator: true } });
  });
  after(async () => server?.[Symbol.asyncDispose]());

  for (const phase of ["initializing", "terminating"] as const) {
    it(`has LogicalClusters with their status, without verbs, and kcp's hash: ${phase}`, async () => {
      const hash = createHash("sha256").update("/core.kcp.io/v1alpha1/LogicalCluster").digest();
      const about = { kind: "LogicalCluster", namespaced: false };
      const resources = [
        {
          ...{ name: "logicalclusters", singularName: "logicalcluster", ...about, categories: ["kcp"] },
          ...{ verbs: ["get", "list", "watch"], storageVersionHash: hash.subarray(0, 8).toString("base64") },
        },
        { name: "logicalclusters/status", singularName: "", ...about, verbs: null },
      ];
      const expected = { kind: "APIResourceList", apiVersion: "v1", groupVersion: "core.kcp.io/v1alpha1", resources };
      const path = "/apis/core.kcp.io/v1alpha1";
      expect((await owner.in(phase).get(path)).body).to.deep.equal(expected);
      // Members of system:masters may use any name, as kcp's tests do.
      const any = await server.get(`/services/${phase}workspaces/something/clusters/*${path}`, root);
      expect(any.body).to.deep.equal(expected);
      expect((await owner.in(phase).get(`${LC}/cluster/status`)).status).to.equal(405);
    });

    it(`has the plain documents alone, with the core group's version: ${phase}`, async () => {
      const view = owner.in(phase);
      expect((await view.get("/api")).body.versions).to.deep.equal(["v1"]);
      expect((await view.get("/api/v1")).status).to.equal(404);
      const both = { headers: { accept: `${AGGREGATED},application/json` } };
      expect((await view.get("/api", both)).body.kind).to.equal("APIVersions");
      expect((await view.get("/apis", both)).body.kind).to.equal("APIGroupList");
      expect((await view.get("/apis", { headers: { accept: AGGREGATED } })).status).to.equal(406);
    });
  }

  it("is aggregated in the view of preparing workspaces, which kcp does not have", async () => {
    const { body } = await owner.in("preparing").get("/apis", { headers: { accept: AGGREGATED } });
    expect(body.kind).to.equal("APIGroupDiscoveryList");
  });
});
