// Whether the API server behind an agent answers, as the ClusterProxy reports it.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { startTarget } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, OtherHub, TestHub } from "./support/hub.ts";
import { newProof } from "./support/proof.ts";

/** Agents probe and report within a tenth of a second. */
const FAST = { probeEvery: 50, tunnel: { heartbeat: { interval: 50 } } };
const TYPE = "APIServerAvailable";

type Proxy = Awaited<ReturnType<TestHub["until"]>>;

const is = (said: string) => (proxy: Proxy) => conditionOf(proxy, TYPE) === said;
const messageOf = (proxy: Proxy, type = TYPE): string =>
  proxy.status.conditions.find((one: { readonly type: string }) => one.type === type)?.message;

describe("API server of a remote cluster", function () {
  this.timeout(60_000);
  let hub: TestHub;

  before(async () => {
    hub = await TestHub.start();
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
  });

  it("decides about Ready, over a tunnel before its first stream and after it", async () => {
    await hub.make("dying");
    let target = await startTarget();
    const { authority, url } = target;
    const port = Number(new URL(url).port);
    await using agent = await hub.agent("dying", { api: apiOf(target), ...FAST });
    await agent.seen("connected");
    for (const tunnel of ["idle", "HTTP/2"]) {
      const before = await hub.until("dying", (one) => isReady(one) && is("True")(one));
      if (tunnel === "HTTP/2") expect((await hub.at("dying").get("/api", { user: "alice" })).status).to.equal(200);
      await target[Symbol.asyncDispose]();
      const dead = await hub.until("dying", is("False Unreachable"));
      expect([dead.status.phase, conditionOf(dead, "Ready"), conditionOf(dead, "AgentConnected")]).to.deep.equal([
        "Connecting",
        "False Unreachable",
        "True",
      ]);
      expect(messageOf(dead, "Ready")).to.equal(
        "the agent cannot connect to its API server: check that it runs, and the agent's log",
      );
      const timeOf = (proxy: Proxy): string =>
        proxy.status.conditions.find(({ type }: { readonly type: string }) => type === TYPE).lastTransitionTime;
      expect(Date.parse(timeOf(dead))).to.be.at.least(Date.parse(timeOf(before)));
      target = await startTarget(undefined, { port, authority });
    }
    await hub.until("dying", isReady);
    await target[Symbol.asyncDispose]();
    expect(agent.events.map(({ type }) => type)).not.to.include("disconnected");
  });

  it("is unavailable from the first status on if it is dead when the agent dials", async () => {
    await hub.make("dead");
    const target = await startTarget();
    await target[Symbol.asyncDispose]();
    await using agent = await hub.agent("dead", { api: apiOf(target) });
    await agent.seen("connected");
    const proxy = await hub.until("dead", (one) => conditionOf(one, "AgentConnected") === "True");
    expect([conditionOf(proxy, TYPE), conditionOf(proxy, "Ready")]).to.deep.equal([
      "False Unreachable",
      "False Unreachable",
    ]);
  });

  it("is unavailable with a reason for each answer that is not an API server's", async () => {
    await hub.make("moody");
    let code = 403;
    const server = await plainServer(() => code);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using _ = await hub.agent("moody", { api: { url }, ...FAST });
    await hub.until("moody", is("True"));
    for (const [next, reason] of [
      [401, "CredentialRejected"],
      [500, "Failing"],
      [302, "Failing"],
    ] as const) {
      code = next;
      await hub.until("moody", is(`False ${reason}`));
    }
    code = 200;
    await hub.until("moody", is("True"));
    server.close();
    server.closeAllConnections();
  });

  it("is untrusted with another certificate, and is probed without verification end to end", async () => {
    await using target = await startTarget();
    const { url } = target;
    await hub.make("untrusted");
    await using _ = await hub.agent("untrusted", { api: { url }, ...FAST });
    const proxy = await hub.until("untrusted", is("False Untrusted"));
    expect(messageOf(proxy)).to.equal(
      "the agent does not trust the certificate of its API server: check the agent's kubeconfig",
    );
    await hub.keep("remote", { token: "hub", "ca.crt": target.authority.ca });
    await hub.make("bytes", { tls: "EndToEnd", secretRef: { namespace: "default", name: "remote" } });
    await using __ = await hub.agent("bytes", { api: { url }, endToEnd: true, ...FAST });
    await hub.until("bytes", is("True"));
  });

  it("is not changed by reports that the hub does not know", async () => {
    await hub.make("strange");
    await using target = await startTarget();
    const agent = await hub.agent("strange", { api: apiOf(target), ...FAST });
    await hub.until("strange", is("True"));
    const [certificate] = agent.kept;
    await agent[Symbol.asyncDispose]();
    const url = `${hub.agentsAt("strange").url}/tunnel`;
    const proof = newProof(certificate as KeyPair, new Date());
    const req = request(url, {
      agent: false,
      headers: {
        authorization: `Bearer ${proof}`,
        connection: "Upgrade",
        upgrade: "virtual-workspaces-tunnel.v1",
        "x-virtual-workspaces-api-state": "Unreachable<b>",
      },
    }).end();
    const [, socket] = (await once(req, "upgrade")) as [IncomingMessage, Duplex];
    const pong = (): Promise<unknown> => once(socket, "data");
    await hub.until("strange", (one) => one.status.agent.epoch === 2);
    for (const report of ["9", "5", "1"]) {
      socket.write(report);
      expect(String(await pong())).to.equal("!");
      // Only the last one is a state.
      if (report !== "1") expect(conditionOf(await hub.until("strange", () => true), TYPE)).to.equal("True");
    }
    await hub.until("strange", is("False Unreachable"));
    socket.destroy();
  });

  it("is unknown without an agent", async () => {
    await using other = await TestHub.start({ grace: 50 });
    await other.make("left");
    await using target = await startTarget();
    const agent = await other.agent("left", { api: apiOf(target), ...FAST });
    await other.until("left", is("True"));
    await agent[Symbol.asyncDispose]();
    const proxy = await other.until("left", is("Unknown AgentNotConnected"));
    expect(conditionOf(proxy, "Ready")).to.equal("False Disconnected");
  });

  it("causes no write while its state is the same, and one with two hubs when it changes", async () => {
    await using other = await OtherHub.start(hub);
    const target = await startTarget();
    await hub.make("shared");
    await using agent = await hub.agent("shared", { api: apiOf(target), ...FAST });
    await agent.seen("connected", 2);
    const both = await hub.until("shared", (one) => one.status?.agent?.hubs?.length === 2 && isReady(one));
    await using watch = await hub.server.watch(
      `/clusters/${hub.edge}/apis/proxy.kcp.io/v1alpha1/clusterproxies?watch=true&fieldSelector=metadata.name=shared` +
        `&resourceVersion=${both.metadata.resourceVersion}`,
      { user: "root" },
    );
    const probed = target.probed;
    while (target.probed < probed + 5) await hub.until("shared", isReady);
    expect((await hub.until("shared", isReady)).metadata.resourceVersion).to.equal(both.metadata.resourceVersion);
    await target[Symbol.asyncDispose]();
    expect(conditionOf((await watch.next()).object as Proxy, TYPE)).to.equal("False Unreachable");
    await using again = await startTarget(undefined, {
      port: Number(new URL(target.url).port),
      authority: target.authority,
    });
    expect(conditionOf((await watch.next()).object as Proxy, TYPE)).to.equal("True");
    expect(again.asked).to.deep.equal([]);
    expect(other.errors).to.deep.equal([]);
  });
});

async function plainServer(code: () => number): Promise<Server> {
  const server = createServer((_, res) => void res.writeHead(code(), { location: "https://elsewhere.example/" }).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
