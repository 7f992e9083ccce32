// Cached resources with many watches: an event is encoded once for all watches of a workspace.
import { ApiModel, apiExportView, replicationView } from "@virtual-workspaces/apiexport";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { CachedProvider, FLAVORS, flavor } from "../../workspace-server/bindings/support/cached.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";

const root = { user: "root" };

/** Returns how many events the server has encoded for watches. */
async function encodings(server: Workspaces): Promise<number> {
  const { text } = await server.get("/metrics", root);
  return Number(/^\w+_watch_rendered_events_total (\d+)$/m.exec(text)?.[1]);
}

describe("events of cached resources", function () {
  this.timeout(60_000);

  it("are encoded once for all watches of a workspace", async () => {
    const own = loopback();
    const common = { upstream: own.upstream, identity: own.identity, model: new ApiModel({ upstream: own.upstream }) };
    const virtualWorkspaces = [apiExportView(common), replicationView(common)];
    await using server = await startWorkspaces(undefined, { loopback: own, virtualWorkspaces, cachedResources: true });
    const provider = await CachedProvider.make(server);
    await provider.publish();
    const shop = await provider.consumer("shop");
    const view = `/services/replication/${provider.cluster}/flavors/clusters/${shop}${FLAVORS}` as const;
    const { metadata } = (await server.get(view, root)).body;
    const path = `${view}?watch=true&resourceVersion=${metadata.resourceVersion}` as const;
    await using watches = new AsyncDisposableStack();
    const open = [];
    for (let at = 0; at < 10; at++) open.push(watches.use(await server.watch(path, root)));
    const before = await encodings(server);
    await provider.create(FLAVORS, flavor("shared"));
    for (const watch of open) expect(await watch.take(1)).to.deep.equal(["ADDED shared"]);
    // Others are for the view's own watch of the provider's objects, and for controllers.
    expect((await encodings(server)) - before).to.be.below(open.length);
  });
});
