import { Client } from "@virtual-workspaces/client";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { listening } from "../answers.ts";
import { bearer, Fleet, startFleets } from "../fleets.ts";

const Older = defineResource({
  group: "test.dev",
  version: "v1beta1",
  kind: "Fleet",
  scope: "Namespaced",
  shortNames: ["fl"],
});

describe("discovery", () => {
  it("finds kinds by group and kind, and by every name that kubectl accepts", async () => {
    await using at = await startFleets();
    const discovery = at.client.discovery();
    expect(at.client.discovery()).to.equal(discovery);
    const kind = await discovery.find({ group: "test.dev", kind: "Fleet" });
    expect(kind).to.deep.include({
      version: "v1",
      plural: "fleets",
      scope: "Namespaced",
      shortNames: ["fl"],
      subresources: ["scale", "status"],
    });
    for (const name of ["fleets", "fleet", "Fleet", "fl", "fleets.test.dev", "fl.test.dev", "fleets.v1.test.dev"])
      expect(await discovery.findResource(name), name).to.equal(kind);
    for (const name of ["boats", "fleets.other.dev", "fleets.v2.test.dev", "", "."])
      expect(await discovery.findResource(name), name).to.equal(undefined);
    expect(await discovery.find({ group: "test.dev", kind: "Fleet", version: "v2" })).to.equal(undefined);
    if (kind === undefined) return;
    await at.client.resource(kind).create({ metadata: { name: "a", namespace: "sea" }, spec: { ships: 1 } } as never);
    expect((await at.client.resource(kind).in("sea").get("a"))["spec"]).to.deep.equal({ ships: 1 });
  });

  it("loads once, and again only for a missing kind", async () => {
    await using at = await startFleets();
    const discovery = at.client.discovery();
    const asked = (): number => at.client.upstream.stats.requests;
    await Promise.all([
      discovery.findResource("fleets"),
      discovery.all(),
      discovery.find({ group: "test.dev", kind: "Fleet" }),
    ]);
    await discovery.findResource("fl");
    expect(asked()).to.equal(2);
    await discovery.findResource("boats");
    expect(asked()).to.equal(4);
    discovery.forget();
    await discovery.all();
    expect(asked()).to.equal(6);
  });

  it("finds kinds that are served since the last load", async () => {
    let kinds = [Fleet.serve(Fleet.collection())];
    const view = defineVirtualWorkspace({
      name: "v",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: () => kinds,
    });
    await using server = await startTestServer([view]);
    await using client = new Client({
      upstream: { url: `${server.url}/services/v/clusters/root`, credentials: bearer(server.credentials.token) },
    });
    const find = (): Promise<unknown> =>
      client.discovery().find({ group: "test.dev", kind: "Fleet", version: "v1beta1" });
    expect(await find()).to.equal(undefined);
    kinds = [...kinds, Older.serve(Older.collection())];
    expect(await find()).to.include({ version: "v1beta1" });
    expect(await client.discovery().findResource("fleets")).to.include({ version: "v1" });
    const [first] = kinds;
    kinds = first === undefined ? [] : [first];
    expect(await client.discovery().all()).to.have.length(2);
    expect(await client.discovery().refresh()).to.have.length(1);
    expect(await client.discovery().all()).to.have.length(1);
  });

  it("requests each group of servers without aggregated discovery, and skips failing groups", async () => {
    const documents: Readonly<Record<string, object>> = {
      "/api": { kind: "APIVersions", versions: ["v1"] },
      "/api/v1": {
        kind: "APIResourceList",
        groupVersion: "v1",
        resources: [
          { name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs: ["get"], shortNames: ["po"] },
          { name: "pods/log", singularName: "", namespaced: true, kind: "Pod", verbs: ["get"] },
        ],
      },
      "/apis": {
        kind: "APIGroupList",
        groups: [
          {
            name: "a.dev",
            versions: [{ groupVersion: "a.dev/v1" }, { groupVersion: "a.dev/v2" }],
            preferredVersion: { groupVersion: "a.dev/v2" },
          },
          { name: "down.dev", versions: [{ groupVersion: "down.dev/v1" }] },
        ],
      },
      "/apis/a.dev/v1": { kind: "APIResourceList", resources: [{ name: "things", namespaced: false, kind: "Thing" }] },
      "/apis/a.dev/v2": { kind: "APIResourceList", resources: [{ name: "things", namespaced: false, kind: "Thing" }] },
    };
    await using at = await listening(
      (req, res) => {
        const document = documents[req.url ?? ""];
        res
          .writeHead(document === undefined ? 503 : 200, { "Content-Type": "application/json" })
          .end(JSON.stringify(document ?? {}));
      },
      { retries: false },
    );
    const discovery = at.client.discovery();
    expect(await discovery.findResource("po")).to.deep.include({
      group: "",
      version: "v1",
      plural: "pods",
      subresources: ["log"],
    });
    expect(await discovery.find({ group: "a.dev", kind: "Thing" })).to.include({ version: "v2", scope: "Cluster" });
    expect(discovery.missing).to.deep.equal(["down.dev/v1"]);
  });
});
