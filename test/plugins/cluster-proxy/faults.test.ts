// Failures between a hub, an agent and its cluster, and the recovery from each.

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { clusterProxy } from "@virtual-workspaces/cluster-proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { type Delayed, delayed } from "../../../bench/_harness/delayed.ts";
import { outcome, startPlain } from "../../_support/plain.ts";
import { startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, type TestAgent, type TestAgentOptions, TestHub } from "./support/hub.ts";

/** Dead ends are detected within three intervals. */
const FAST = { heartbeat: { interval: 100 } };

describe("remote cluster after a failure", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;

  before(async () => {
    hub = await TestHub.start({ patience: 2_000 });
    target = await startTarget();
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  /** Starts an agent that dials through a proxy. */
  async function agentThrough(name: string, way: Delayed, options: Partial<TestAgentOptions> = {}): Promise<TestAgent> {
    const url = hub.agentsAt(name).url.replace(/:\d+/, `:${way.port}`);
    return hub.agent(name, { hub: { url }, api: apiOf(target), tunnel: FAST, ...options });
  }

  const asked = (name: string) => hub.at(name).get("/api/v1/pods", { user: "alice" });

  it("is reached over another tunnel after its agent has detected a silent connection", async () => {
    await hub.make("silent");
    await using way = await delayed(Number(new URL(hub.server.url).port), 0);
    const first = await agentThrough("silent", way);
    await hub.until("silent", isReady);
    expect((await asked("silent")).status).to.equal(200);
    way.silence();
    const { error } = await first.seen("disconnected");
    expect(String(error)).to.match(/the other end of the tunnel does not respond/);
    const [certificate] = first.kept;
    await first[Symbol.asyncDispose]();
    await using again = await hub.agent("silent", {
      api: apiOf(target),
      tunnel: FAST,
      ...(certificate && { certificate }),
    });
    await again.seen("connected");
    expect((await asked("silent")).status).to.equal(200);
  });

  it("works with a latency of half a second each way", async () => {
    await hub.make("far");
    await using way = await delayed(Number(new URL(hub.server.url).port), 500);
    await using agent = await agentThrough("far", way, { tunnel: {} });
    await agent.seen("connected");
    const answers = await Promise.all([asked("far"), asked("far"), asked("far")]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(agent.events.map(({ type }) => type)).to.deep.equal(["certified", "connected"]);
  });

  it("gets 503 while its API server is down, and recovers with the same tunnel", async () => {
    await hub.make("restarted");
    const first = await startTarget();
    const port = Number(new URL(first.url).port);
    await using agent = await hub.agent("restarted", { api: apiOf(first) });
    await hub.until("restarted", isReady);
    expect((await asked("restarted")).status).to.equal(200);
    await first[Symbol.asyncDispose]();
    expect(outcome(await asked("restarted"))).to.deep.equal([
      503,
      "ServiceUnavailable",
      "the API server of the remote cluster cannot be reached; try again",
    ]);
    await using again = await startTarget(undefined, { port, authority: first.authority });
    expect((await asked("restarted")).status).to.equal(200);
    expect(again.asked.length).to.equal(1);
    expect(agent.events.map(({ type }) => type)).not.to.include("disconnected");
  });

  it("keeps nothing of two hundred tunnels that were opened and closed", async () => {
    await hub.make("often");
    const first = await hub.agent("often", { api: apiOf(target) });
    await first.seen("connected");
    const [certificate] = first.kept;
    if (certificate === undefined) throw new Error("no certificate was kept");
    await first[Symbol.asyncDispose]();
    for (let times = 0; times < 200; times++) {
      await using agent = await hub.agent("often", { api: apiOf(target), certificate });
      await agent.seen("connected");
      if (times % 50 === 0) expect((await asked("often")).status).to.equal(200);
    }
    const { text } = await hub.server.get("/metrics", { user: "root" });
    expect(/^clusterproxy_tunnel_streams (\d+)$/m.exec(text)?.[1]).to.equal("0");
    const proxy = await hub.until("often", (one) => one.status.agent.epoch === 201);
    expect(conditionOf(proxy, "IdentityValid")).to.equal("True");
    await hub.remove("often");
  });

  it("has an agent that retries if the server at the hub's address is not a hub", async () => {
    const server = createServer((socket) =>
      socket.on("error", () => undefined).end("what is this\r\n\r\n", () => socket.destroy()),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    await hub.make("nobody");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/clusterproxy-agents/root/nobody`;
    await using agent = await hub.agent("nobody", { hub: { url }, api: apiOf(target) });
    await agent.seen("failed", 2);
    server.close();
  });

  it("has another hub, which does not report its own hub as gone", async () => {
    await using first = await TestHub.start({ grace: 50 });
    await first.make("shared");
    const agent = await first.agent("shared", { api: apiOf(target) });
    const before = await first.until("shared", isReady);
    const upstream = new Upstream({
      url: first.server.url,
      credentials: { get: () => ({ headers: ["Authorization", "Bearer root"] }) },
    });
    const looked = Promise.withResolvers<void>();
    const now = (): Date => {
      looked.resolve();
      return new Date();
    };
    const failures: unknown[] = [];
    const views = clusterProxy({ upstream, grace: 50, now, onError: (error) => failures.push(error) });
    await using other = await startPlain(views);
    await looked.promise;
    // Long enough for several wrong reports.
    await pause(500);
    expect(await first.until("shared", () => true)).to.deep.equal(before);
    expect(failures).to.deep.equal([]);
    await agent[Symbol.asyncDispose]();
    await first.until("shared", (one) => conditionOf(one, "AgentConnected") === "False Disconnected");
    await other[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });
});
