// ClusterProxies in several workspaces: each is found by the path of its workspace, and none of them needs a watch of its own.
import { CLUSTER_PROXY_EXPORT } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { untilAnswer } from "../../_support/until.ts";
import { APIS, bindingOf } from "../../workspace-server/bindings/support/shard.ts";
import { makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { TestHub } from "./support/hub.ts";

const root = { user: "root" };
const PROXIES = "/apis/proxy.kcp.io/v1alpha1/clusterproxies";
const WORKSPACES = 6;

describe("ClusterProxies in several workspaces", function () {
  this.timeout(60_000);

  it("are found by the paths of their workspaces, without a watch for each", async () => {
    await using hub = await TestHub.start();
    const { server } = hub;
    const create = async (path: `/${string}`, object: object): Promise<void> => {
      const { status, text } = await server.send(`POST ${path}`, object, root);
      expect(status, text).to.equal(201);
    };
    await hub.make("far");
    const found = (name: string) =>
      untilAnswer(
        () => hub.at("far", `root:${name}`).get("/api", root),
        ({ text }) => text.includes("agent"),
      );
    await found("edge");
    const before = await watches(hub);
    for (let n = 0; n < WORKSPACES; n++) {
      const cluster = await makeWorkspace(server, `edge-${n}`);
      await create(`/clusters/${cluster}${APIS}/apibindings`, bindingOf("remote", `root:${CLUSTER_PROXY_EXPORT}`));
      await untilAnswer(
        () => server.get(`/clusters/${cluster}${PROXIES}`, root),
        ({ status }) => status === 200,
      );
      const about = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy" };
      await create(`/clusters/${cluster}${PROXIES}`, { ...about, metadata: { name: "far" } });
      expect((await found(`edge-${n}`)).status).to.equal(503);
    }
    expect(await watches(hub)).to.equal(before);
    expect(hub.errors).to.deep.equal([]);
  });
});

/** Number of watches of LogicalClusters that are open at the server. */
async function watches({ server }: TestHub): Promise<number> {
  const { text, status } = await server.get("/metrics", root);
  expect(status, text).to.equal(200);
  const lines = text.split("\n").filter((line) => /^apiserver_longrunning_requests\{.*"logicalclusters"/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
