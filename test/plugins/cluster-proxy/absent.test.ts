// Requests and statuses while the agent of a remote cluster is absent, and after it has returned.
import { expect } from "chai";
import { delayed } from "../../../bench/_harness/delayed.ts";
import { until, untilAnswer } from "../../_support/until.ts";
import { startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, type TestAgent, TestHub } from "./support/hub.ts";

/** Longer than the tests may take: only a request that does not wait is answered. */
const FOREVER = 300_000;
const alice = { user: "alice" };

describe("remote cluster without its agent", function () {
  this.timeout(30_000);
  let hub: TestHub;
  let target: Target;
  /** Difference of the hub's clock, ms. */
  let ahead = 0;

  before(async () => {
    hub = await TestHub.start({ patience: FOREVER, grace: 200, now: () => new Date(Date.now() + ahead) });
    target = await startTarget();
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  const asked = (name: string) => hub.at(name).get("/api/v1/pods", alice);

  /** Starts another agent with the certificate of one that has ended. */
  async function again(name: string, { kept: [certificate] }: TestAgent): Promise<TestAgent> {
    if (certificate === undefined) throw new Error("no certificate was kept");
    return hub.agent(name, { api: apiOf(target), certificate });
  }

  it("waits for the agent right after the loss, and answers 503 at once when its status has Disconnected", async () => {
    await hub.make("shop");
    const first = await hub.agent("shop", { api: apiOf(target) });
    await hub.until("shop", isReady);
    await first[Symbol.asyncDispose]();
    const waiting = asked("shop");
    const second = await again("shop", first);
    expect((await waiting).status).to.equal(200);
    await second[Symbol.asyncDispose]();
    await hub.until("shop", (one) => conditionOf(one, "AgentConnected") === "False Disconnected");
    const { status, body, headers } = await untilAnswer(
      () => asked("shop"),
      ({ text }) => text.includes("the agent is not connected"),
    );
    expect([status, headers["retry-after"]]).to.deep.equal([503, undefined]);
    expect(body.message).to.match(/^the ClusterProxy "shop" cannot be reached since \S+: the agent is not connected/);
  });

  it("has a heartbeat of the new tunnel as soon as the agent is back", async () => {
    await hub.make("beat");
    const first = await hub.agent("beat", { api: apiOf(target) });
    const { status } = await hub.until("beat", isReady);
    const before = Date.parse(status.agent.lastHeartbeatTime);
    ahead += 20_000;
    await first[Symbol.asyncDispose]();
    await using _ = await again("beat", first);
    await hub.until("beat", (one) => Date.parse(one.status.agent.lastHeartbeatTime) >= before + 20_000);
  });

  it("names the hub as the sender of a 403, with the permission that is missing", async () => {
    await hub.make("denied");
    const { status, body } = await hub.at("denied").get("/api/v1/pods", { user: "bob" });
    expect(status).to.equal(403);
    expect(body.message).to.match(
      /the hub denied the request before it reached the remote cluster: it needs "list" on clusterproxies\/proxy "denied" in the workspace of the ClusterProxy/,
    );
  });
});

describe("503 of a remote cluster", function () {
  this.timeout(30_000);
  const retryAfter = async (hub: TestHub, name: string): Promise<unknown[]> => {
    const { status, headers } = await hub.at(name).get("/api/v1/pods", alice);
    return [status, headers["retry-after"]];
  };

  it("has Retry-After if its reason can pass by itself, and has none if a user or an operator must act", async () => {
    await using hub = await TestHub.start({ patience: 50, grace: 60_000 });
    await using target = await startTarget();
    await hub.make("new");
    await hub.until("new", (one) => conditionOf(one, "AgentConnected") === "False NeverEnrolled");
    expect(await retryAfter(hub, "new"), "never enrolled").to.deep.equal([503, undefined]);
    await hub.make("secret", { tls: "EndToEnd", secretRef: { namespace: "default", name: "none" } });
    await hub.until("secret", (one) => conditionOf(one, "CredentialValid") === "False SecretNotFound");
    expect(await retryAfter(hub, "secret"), "no Secret").to.deep.equal([503, undefined]);
    await using bytes = await hub.agent("new", { api: { url: target.url }, endToEnd: true });
    await bytes.seen("connected");
    await hub.until("new", (one) => conditionOf(one, "AgentConnected") === "False ModeMismatch");
    expect(await retryAfter(hub, "new"), "other mode").to.deep.equal([503, undefined]);
    await hub.make("left");
    const agent = await hub.agent("left", { api: apiOf(target) });
    await hub.until("left", isReady);
    await target[Symbol.asyncDispose]();
    expect(await retryAfter(hub, "left"), "no API server").to.deep.equal([503, "1"]);
    await agent[Symbol.asyncDispose]();
    expect(await retryAfter(hub, "left"), "just disconnected").to.deep.equal([503, "1"]);
  });
});

describe("log of a hub", function () {
  this.timeout(30_000);

  it("names the ClusterProxy of a tunnel that ends early, and of the requests that it cuts", async () => {
    const heartbeat = { interval: 50 };
    await using hub = await TestHub.start({ patience: 50, tunnel: { heartbeat } });
    const received = Promise.withResolvers<void>();
    await using target = await startTarget(() => received.resolve());
    await hub.make("shop");
    await using way = await delayed(Number(new URL(hub.server.url).port), 0);
    const url = hub.agentsAt("shop").url.replace(/:\d+/, `:${way.port}`);
    await using _ = await hub.agent("shop", { hub: { url }, hubs: 1, api: apiOf(target), tunnel: { heartbeat } });
    await hub.until("shop", isReady);
    const open = hub.at("shop").get("/api/v1/pods", alice);
    await received.promise;
    way.silence();
    expect((await open).status).to.equal(503);
    const lines = await until(() => hub.errors.length >= 2 && hub.errors.map(String));
    const [name, why] = [`Error: ClusterProxy ${hub.edge}/shop:`, "the other end of the tunnel does not respond"];
    expect(lines).to.include(`${name} a tunnel of its agent has failed: ${why}`);
    expect(lines.filter((line) => line.startsWith(`${name} a request has failed: `))).to.have.lengthOf(1);
  });
});
