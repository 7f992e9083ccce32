// `start` with kcp's feature gate for cached resources: with kubectl, on two shards, across a restart, and with the view elsewhere.
import { expect } from "chai";
import { until } from "../_support/until.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { flavor } from "../workspace-server/bindings/support/cached.ts";
import { consumeFlavors, FLAVORS, publishFlavors } from "./support/cached.ts";
import { made } from "./support/exported.ts";
import { Start } from "./support/start.ts";
import { Apart, ask, USERS } from "./support/views-of-workspaces.ts";

const FLAGS = ["--shards=2", "--feature-gates=CacheAPIs=true"];

describe("start with cached resources", function () {
  this.timeout(120_000);
  before(function () {
    needsKubectl.call(this);
  });

  it("shows them to kubectl in workspaces of both shards, also after a restart", async () => {
    await using first = await Start.ready({ files: USERS, flags: FLAGS });
    await publishFlavors(first, "shard-1");
    const consumers = { near: "shard-1", far: "root" };
    for (const [name, shard] of Object.entries(consumers)) await consumeFlavors(first, name, shard);
    const in_ = (server: Start, name: string, ...args: readonly string[]): Promise<string> =>
      server.kubectl("-s", `${server.url}/clusters/root:${name}`, ...args);
    const listed = (server: Start, name: string, names: readonly string[]): Promise<unknown> =>
      until(async () => (await in_(server, name, "get", "flavors", "-o", "name")) === `0 ${names.join("\n")}`, {
        what: `flavors of ${name}`,
      });
    const small = "flavor.cloud.example.dev/small";
    for (const name of Object.keys(consumers)) await listed(first, name, [small]);
    expect(await in_(first, "far", "delete", "flavor", "small")).to.match(/^1 .*delete is not supported/s);
    expect(await in_(first, "far", "annotate", "flavor", "small", "a=b")).to.match(/^1 .*patch is not supported/s);
    const { folder } = first;
    await first.end("SIGTERM");
    await using second = await Start.ready({ in: folder.path, files: USERS, flags: FLAGS });
    await made(second, `/clusters/root:provider/${FLAVORS}`, flavor("large"));
    for (const name of Object.keys(consumers)) await listed(second, name, ["flavor.cloud.example.dev/large", small]);
  });

  it("leaves their view to a process of its own with the same gate", async () => {
    const gate = "--feature-gates=CacheAPIs=true";
    await using apart = await Apart.ready({ asKcp: true, shardFlags: [gate], flags: [gate] });
    const cluster = await publishFlavors(apart.shard, "root");
    const consumer = await consumeFlavors(apart.shard, "consumer", "root");
    const { url, ca } = apart.throughShard;
    const path = `${url}/replication/${cluster}/flavors/clusters/${consumer}/${FLAVORS}`;
    const get = (token: string) => ask(path, { ca, headers: { authorization: `Bearer ${token}` } });
    const { code, body } = await get("root-token");
    expect(code, body).to.equal(200);
    const [{ metadata }] = JSON.parse(body).items;
    expect([metadata.name, metadata.annotations["kcp.io/cluster"]]).to.deep.equal(["small", consumer]);
    expect((await get("alice-token")).code).to.equal(403);
  });
});
