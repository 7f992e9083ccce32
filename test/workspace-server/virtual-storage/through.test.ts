// A resource that a view keeps, through the view of its export, and on several shards: each asks the view that is its own.
import { apiExportView } from "@virtual-workspaces/apiexport";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { builtInKinds, type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { makeOn, Stores, startSharded } from "../shards/support.ts";
import { echo, Kept, root, shelf, WIDGETS } from "./support/kept.ts";

const viewOver = ({ upstream, identity }: Loopback): VirtualWorkspace =>
  apiExportView({ upstream, identity, kinds: builtInKinds.map(({ resource }) => resource) });
const widget = (name: string, size: number): object => ({
  ...{ apiVersion: "example.dev/v1", kind: "Widget", metadata: { name }, spec: { size } },
});

describe("a resource that a view keeps", function () {
  this.timeout(60_000);

  it("is read, written and watched through the view of its export, one server further", async () => {
    const own = loopback();
    await using kept = await Kept.start({ loopback: own, virtualWorkspaces: [viewOver(own), shelf("shelf")] });
    await kept.says({ url: `${kept.server.url}/services/shelf`, shards: { matchAll: true } });
    const view = `/services/apiexport/${kept.provider}/widgets/clusters` as const;
    const here = `${view}/${kept.shop}${WIDGETS}` as const;
    expect((await kept.in.send(`POST ${WIDGETS}`, widget("a", 1))).status).to.equal(201);
    await using watch = await kept.server.watch(`${view}/*${WIDGETS}?watch=true`, root);
    const made = await kept.server.send(`POST ${here}`, widget("b", 2), root);
    expect(made.status, made.text).to.equal(201);
    expect(await watch.take(2)).to.deep.equal(["ADDED a", "ADDED b"]);
    expect((await kept.in.get(`${WIDGETS}/b`)).body.spec).to.deep.equal({ size: 2 });
    const all = await kept.server.get(`${view}/*${WIDGETS}`, root);
    expect(all.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
      "a",
      "b",
    ]);
    expect((await kept.server.get(here, { user: "bob" })).status).to.equal(403);
    const headers = { "x-kcp-virtual-resource-hops": "2" };
    expect((await kept.server.get(here, { ...root, headers })).status).to.equal(500);
  });

  it("is kept on each shard by the view that is below its URL, and for all by one that says so", async () => {
    await using stores = new Stores();
    const shards = { virtualWorkspaces: (name: string) => [echo("echo"), echo(`of-${name}`)] };
    const server = await startSharded(stores, { virtualWorkspaces: [echo("echo"), echo("of-root")], shards });
    await using kept = await Kept.on(server, (name) => makeOn(server, name, { shard: "shard-1" }));
    const read = await server.get("/clusters/root/apis/core.kcp.io/v1alpha1/shards/shard-1", root);
    const far = read.body.spec.virtualWorkspaceURL;
    await kept.says({ url: `${server.url}/services/of-root` }, { url: `${far}/services/of-shard-1` });
    expect((await kept.in.get(WIDGETS)).body.view).to.equal("of-shard-1");
    await kept.says({ url: `${server.url}/services/of-root`, shards: { matchAll: true } });
    expect((await kept.in.get(WIDGETS)).body.view).to.equal("of-root");
    await kept.says({ url: `${server.url}/services/of-root`, shards: { selector: { matchLabels: { name: "root" } } } });
    expect((await kept.in.get(WIDGETS)).status).to.equal(500);
  });
});
