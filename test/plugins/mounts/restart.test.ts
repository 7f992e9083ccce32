// A view that starts with existing mounts.
import { staticTokens } from "@virtual-workspaces/framework";
import { mountsView } from "@virtual-workspaces/mounts";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { reportFault } from "../../_setup/faults.ts";
import { startPlain } from "../../_support/plain.ts";
import { untilAt } from "../../workspace-server/shards/support.ts";
import { isReady, kubeconfigOf, refTo, secret, startMounted, startTarget } from "./support/mounted.ts";

const MOUNTS = "/apis/proxy.kcp.io/v1alpha1/mounts";

describe("a starting view of mounts", function () {
  this.timeout(30_000);

  it("keeps existing statuses until it has read the targets: Ready mounts stay Ready", async () => {
    await using mounted = await startMounted();
    await using target = await startTarget();
    const { server, team } = mounted;
    await mounted.make("Secret", "there", secret({ kubeconfig: kubeconfigOf(target) }));
    await mounted.make("Mount", "there", { spec: { ref: refTo("there") } });
    await mounted.make("Mount", "link", { spec: { type: "Workspace", path: "root:team" } });
    for (const name of ["there", "link"]) await mounted.until(name, isReady);
    await using watch = await server.watch(
      `/clusters/${team}${MOUNTS}?watch=true&resourceVersion=${(await listed()).metadata.resourceVersion}`,
      { user: "root" },
    );

    await using upstream = new Upstream({
      url: server.url,
      credentials: { get: () => ({ headers: ["Authorization", "Bearer root"] }) },
    });
    const onError = (error: unknown): void => reportFault("mounts", error);
    const view = mountsView({ upstream, allow: ["127.0.0.1"], onError });
    await using other = await startPlain([view], { authentication: [staticTokens({ alice: { name: "alice" } })] });
    const asked = { path: `/services/mounts/${team}/there/api`, user: "alice" };
    expect((await untilAt(other, asked, ({ status }) => status === 200)).text).to.equal("GET /api");
    // This Mount's status comes after all other writes.
    await mounted.make("Mount", "last", { spec: { type: "Redirect", path: "root:team" } });
    await mounted.until("last", isReady);
    const seen = await watch.until(({ object }) => object.metadata.name === "last");
    expect(seen.map(({ object }) => object.metadata.name)).to.deep.equal(["last"]);

    async function listed() {
      return (await server.get(`/clusters/${team}${MOUNTS}`, { user: "root" })).body;
    }
  });
});
