// A view for each shard, with its bindings to exports of any shard, at the published URLs.
import { apiExportView } from "@virtual-workspaces/apiexport";
import { builtInKinds, type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Calls, callsTo } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { APIS, bindingOf, exportOf } from "../../workspace-server/bindings/support/shard.ts";
import { makeOn, Stores, startSharded } from "../../workspace-server/shards/support.ts";
import { bind } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { MAPS, map, namesOf, Provider, WIDGETS, widget, widgetSchema } from "./support/provider.ts";

const GADGETS = WIDGETS.replace("widgets", "gadgets");
const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };
const ACCEPTED = [{ ...CLAIM, selector: { matchAll: true }, state: "Accepted" }];

describe("views of an export on several shards", function () {
  this.timeout(90_000);
  const stores = new Stores();
  let server: Workspaces;
  let provider: Provider;
  const clusters: Record<string, string> = {};

  const viewOver = ({ upstream, identity }: Loopback) =>
    apiExportView({ upstream, identity, kinds: builtInKinds.map(({ resource }) => resource), allowCache: 500 });

  before(async () => {
    const own = loopback();
    server = await startSharded(stores, {
      loopback: own,
      virtualWorkspaces: [viewOver(own)],
      shards: { virtualWorkspaces: (_, context) => [viewOver(context.loopback)] },
    });
    provider = await Provider.make(server, "provider", { permissionClaims: [CLAIM] });
    for (const shard of ["root", "shard-1"]) {
      const cluster = await makeOn(server, `on-${shard}`, { shard });
      clusters[shard] = cluster;
      await provider.post(
        cluster,
        `${APIS}/apibindings`,
        bindingOf("widgets", `${provider.cluster}:widgets`, ACCEPTED),
      );
      await provider.until(
        `/clusters/${cluster}${APIS}/apibindings/widgets`,
        ({ body }) => body.status?.phase === "Bound",
      );
      await provider.post(cluster, WIDGETS, widget(`of-${shard}`));
      await provider.post(cluster, MAPS, map(`of-${shard}`));
    }
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });

  /** Returns clients of the view at each published URL. */
  async function published({ cluster } = provider, count = 2): Promise<Calls[]> {
    const slice = await provider.until(
      `/clusters/${cluster}${APIS.replace("v1alpha2", "v1alpha1")}/apiexportendpointslices/widgets`,
      ({ body }) => body.status?.endpoints?.length === count,
    );
    const urls: string[] = slice.body.status.endpoints.map(({ url }: { url: string }) => url);
    return urls.sort((one) => (one.startsWith(server.url) ? -1 : 1)).map((url) => callsTo(`${url}/clusters/*`));
  }

  it("show the own and claimed objects of their shard, and together all of them", async () => {
    const [root, far] = (await published()) as [Calls, Calls];
    for (const [calls, shard] of [
      [root, "root"],
      [far, "shard-1"],
    ] as const) {
      const widgets = await untilAnswer(
        () => calls.get(WIDGETS),
        ({ status }) => status === 200,
      );
      expect(namesOf(widgets)).to.deep.equal([`${clusters[shard]}/of-${shard}`]);
      const maps = namesOf(await calls.get("/api/v1/configmaps"));
      expect(maps).to.include(`${clusters[shard]}/of-${shard}`);
      expect(maps.every((name) => name.startsWith(`${clusters[shard]}/`))).to.equal(true);
    }
  });

  it("check permission for the content on the export's shard, and deny others", async () => {
    const [, far] = (await published()) as [Calls, Calls];
    expect((await far.get(WIDGETS)).status).to.equal(200);
    expect((await far.get(WIDGETS, { user: "bob" })).status).to.equal(403);
    await using watch = await far.watch(`${WIDGETS}?watch=true&resourceVersion=0`);
    expect(await watch.take(1)).to.deep.equal(["ADDED of-shard-1"]);
  });

  for (const shard of ["root", "shard-1"])
    it(`check the policy of claimed resources by deep reviews on their export's shard, ${shard}`, async () => {
      const owner = await makeOn(server, `owner-on-${shard}`, { shard });
      const names = { plural: "gadgets", kind: "Gadget", singular: "gadget", listKind: "GadgetList" };
      const schema = widgetSchema("v1", { plural: "gadgets", kind: "Gadget", names });
      await provider.post(owner, "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
      const policy = { maximalPermissionPolicy: { local: {} } };
      await provider.post(owner, `${APIS}/apiexports`, exportOf("gadgets", ["v1.gadgets.example.dev"], policy));
      const exported = `/clusters/${owner}${APIS}/apiexports/gadgets`;
      const { body } = await provider.until(exported, ({ body }) => body.status?.identityHash);
      const { identityHash } = body.status;
      const claim = { group: "example.dev", resource: "gadgets", identityHash, verbs: ["*"] };
      const claiming = await Provider.make(server, `claiming-from-${shard}`, { permissionClaims: [claim] });
      const made: string[] = [];
      for (const on of ["root", "shard-1"]) {
        const cluster = await makeOn(server, `both-on-${on}-of-${shard}`, { shard: on });
        await provider.post(cluster, `${APIS}/apibindings`, bindingOf("gadgets", `${owner}:gadgets`));
        const bound = `/clusters/${cluster}${APIS}/apibindings/gadgets`;
        await provider.until(bound, ({ body }) => body.status?.phase === "Bound");
        await claiming.bind(cluster, [{ ...claim, selector: { matchAll: true }, state: "Accepted" }]);
        await provider.post(cluster, GADGETS, { ...widget("g"), kind: "Gadget" });
        made.push(`${cluster}/g`);
      }
      const views = await published(claiming);
      for (const view of views)
        expect(
          (
            await untilAnswer(
              () => view.get(WIDGETS),
              ({ status }) => status === 200,
            )
          ).status,
        ).to.equal(200);
      for (const view of views) expect((await view.get(GADGETS)).status, "nobody has let it").to.equal(403);
      await lets(owner, "apis.kcp.io:binding:alice");
      for (const [index, view] of views.entries()) {
        const seen = await untilAnswer(
          () => view.get(GADGETS),
          ({ status }) => status === 200,
        );
        expect(namesOf(seen)).to.deep.equal([made[index]]);
      }
      for (const view of views) expect((await view.get(GADGETS, { user: "bob" })).status).to.equal(403);
    });

  it("have claimed resources on a shard without bindings to them, and their objects once they are bound", async () => {
    const owner = await makeOn(server, "owner-of-unbound", { shard: "root" });
    const names = { plural: "gizmos", kind: "Gizmo", singular: "gizmo", listKind: "GizmoList" };
    const schema = widgetSchema("v1", { plural: "gizmos", kind: "Gizmo", names });
    await provider.post(owner, "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
    await provider.post(owner, `${APIS}/apiexports`, exportOf("gizmos", ["v1.gizmos.example.dev"]));
    const exported = `/clusters/${owner}${APIS}/apiexports/gizmos`;
    const { body } = await provider.until(exported, (found) => found.body.status?.identityHash);
    const claim = { group: "example.dev", resource: "gizmos", identityHash: body.status.identityHash, verbs: ["*"] };
    const claiming = await Provider.make(server, "claiming-unbound", { permissionClaims: [claim] });
    const cluster = await makeOn(server, "consumer-far", { shard: "shard-1" });
    await claiming.bind(cluster, [{ ...claim, selector: { matchAll: true }, state: "Accepted" }]);
    // Only shards with a binding have an endpoint.
    const [far] = (await published(claiming, 1)) as [Calls];
    const gizmos = WIDGETS.replace("widgets", "gizmos");
    const served = await untilAnswer(
      () => far.get(gizmos),
      ({ status }) => status === 200,
    );
    expect(namesOf(served)).to.deep.equal([]);
    const { resources } = (await far.get("/apis/example.dev/v1")).body;
    expect(resources.map(({ name }: { name: string }) => name)).to.include("gizmos");
    await provider.post(cluster, `${APIS}/apibindings`, bindingOf("gizmos", `${owner}:gizmos`));
    const bound = `/clusters/${cluster}${APIS}/apibindings/gizmos`;
    await provider.until(bound, (found) => found.body.status?.phase === "Bound");
    await provider.post(cluster, gizmos, { ...widget("g"), kind: "Gizmo" });
    const seen = await untilAnswer(
      () => far.get(gizmos),
      (answer) => answer.status === 200 && answer.body.items.length > 0,
    );
    expect(namesOf(seen)).to.deep.equal([`${cluster}/g`]);
  });

  /** Lets a user read gadgets, by the policy of a workspace. */
  async function lets(cluster: string, name: string): Promise<void> {
    const apiGroup = "rbac.authorization.k8s.io";
    const rules = [{ apiGroups: ["example.dev"], resources: ["gadgets"], verbs: ["get", "list", "watch"] }];
    const role = { apiVersion: `${apiGroup}/v1`, kind: "ClusterRole", metadata: { name: "policy" }, rules };
    await provider.post(cluster, `/apis/${apiGroup}/v1/clusterroles`, role);
    await bind(server, cluster, { name: "policy", role: "policy", subject: { apiGroup, kind: "User", name } });
  }
});
