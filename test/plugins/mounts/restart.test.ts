// A view that starts with existing mounts.
import { staticTokens } from "@virtual-workspaces/framework";
import { mountsView } from "@virtual-workspaces/mounts";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { expectFault, reportFault } from "../../_setup/faults.ts";
import { startPlain } from "../../_support/plain.ts";
import { startRelay } from "../../_support/relay.ts";
import { until } from "../../_support/until.ts";
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

describe("a view of mounts whose workspaces are away", function () {
  this.timeout(30_000);

  it("is not ready, and reports each failure once", async () => {
    await using mounted = await startMounted();
    const there = Number(new URL(mounted.server.url).port);
    let port = there;
    let refused = 0;
    await using relay = await startRelay(() => {
      if (port !== there) refused += 1;
      return port;
    });
    await using upstream = new Upstream({
      url: `http://127.0.0.1:${relay.port}`,
      credentials: { get: () => ({ headers: ["Authorization", "Bearer root"] }) },
    });
    const errors: string[] = [];
    const view = mountsView({ upstream, onError: (error) => errors.push(String(error)) });
    await using other = await startPlain([view], { authentication: [staticTokens({ alice: { name: "alice" } })] });
    const ready = async (): Promise<number> => (await other.get("/readyz/mounts")).status;
    await until(async () => (await ready()) === 200, { what: "ready" });
    port = 1;
    relay.cut();
    await until(async () => (await ready()) === 503, { what: "not ready" });
    await until(() => refused > 20, { what: "retries", within: 20_000 });
    expect(errors.filter((text) => text.includes("/mounts:"))).to.have.length(1);
    expect(errors).to.deep.equal([...new Set(errors)]);
    port = there;
    await until(async () => (await ready()) === 200, { what: "ready again" });
    expectFault(/virtual workspace is not ready/);
  });
});
