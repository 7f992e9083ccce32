// Identity of agents: single-use tokens; certificates that expire, and are renewed, revoked and replaced; and a second agent.
import { issueCertificate, newSigningRequest } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, TestHub } from "./support/hub.ts";
import { newProof } from "./support/proof.ts";

const CERTIFICATES = "/apis/agents.proxy.kcp.io/v1alpha1/agentcertificates";
const DAY = 24 * 60 * 60 * 1000;

describe("agent", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;
  let ahead = 0;
  const now = (): Date => new Date(Date.now() + ahead);

  before(async () => {
    hub = await TestHub.start({ now });
    target = await startTarget();
  });
  afterEach(() => {
    ahead = 0;
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  async function requested(token: string, name: string): Promise<unknown[]> {
    const { request } = await newSigningRequest({ name: "any", groups: ["system:masters"] });
    const object = { apiVersion: "agents.proxy.kcp.io/v1alpha1", kind: "AgentCertificate", spec: { request } };
    return outcome(await hub.agentsAt(name).send(`POST ${CERTIFICATES}`, object, { user: token }));
  }

  it("is enrolled with a token of a user who may create clusterproxies/token, and with no other", async () => {
    await hub.make("tokens");
    const made = await hub.askToken("tokens", "alice", { expirationSeconds: 120 });
    expect(made.status, made.text).to.equal(201);
    expect(Date.parse(made.body.status.expirationTimestamp) - Date.now()).to.be.within(100_000, 121_000);
    expect((await hub.askToken("tokens", "carol")).status).to.equal(403);
    expect((await hub.askToken("tokens", "bob")).status).to.equal(403);
    expect(outcome(await hub.askToken("none"))).to.deep.equal([
      404,
      "NotFound",
      'clusterproxies.proxy.kcp.io "none" not found',
    ]);
    expect(outcome(await hub.askToken("tokens", "alice", { expirationSeconds: 5 }))[2]).to.match(
      /spec.expirationSeconds: .*greater than or equal to 60/,
    );
    expect((await requested("alice", "tokens"))[2]).to.match(/only agents get certificates/);
  });

  it("uses a token once, and none that is not newer than a used one", async () => {
    await hub.make("once");
    const older = await hub.token("once");
    const token = await hub.token("once");
    await using agent = await hub.agent("once", { api: apiOf(target), token });
    await agent.seen("connected");
    for (const used of [token, older])
      expect((await requested(used, "once"))[2]).to.match(/the token or a newer one has already been used/);
    await using late = await hub.agent("once", { api: apiOf(target), token });
    expect(String((await late.seen("failed")).error)).to.match(/the token or a newer one has already been used/);
  });

  it("is rejected with a token of another or an earlier ClusterProxy, an expired one, or one that no hub has signed", async () => {
    await hub.make("mine");
    await hub.make("theirs");
    const token = await hub.token("mine");
    expect((await requested(token, "theirs"))[2]).to.match(/the credential of the agent is for another ClusterProxy/);
    expect((await hub.at("mine").get("/api", { user: token })).status).to.equal(401);
    expect((await hub.server.get("/clusters/root/api", { user: token })).status).to.equal(401);
    const [head, body = "", mark] = token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString());
    const forged = [head, Buffer.from(JSON.stringify({ ...claims, name: "theirs" })).toString("base64url"), mark].join(
      ".",
    );
    expect((await requested(forged, "theirs"))[0]).to.equal(401);
    await hub.remove("mine");
    await hub.make("mine");
    expect((await requested(token, "mine"))[2]).to.match(/created again under the same name/);
    const again = await hub.token("mine");
    ahead = 11 * 60_000;
    expect((await requested(again, "mine"))[0]).to.equal(401);
  });

  it("reconnects with its certificate, which is not valid anywhere else", async () => {
    await hub.make("back");
    await hub.make("other");
    const first = await hub.agent("back", { api: apiOf(target) });
    await first.seen("connected");
    await first[Symbol.asyncDispose]();
    const [certificate] = first.kept;
    if (certificate === undefined) throw new Error("no certificate was kept");
    await using again = await hub.agent("back", { api: apiOf(target), certificate });
    expect((await again.seen("connected")).epoch).to.equal(2);
    await using elsewhere = await hub.agent("other", { api: apiOf(target), certificate });
    expect(String((await elsewhere.seen("failed")).error)).to.match(
      /the credential of the agent is for another ClusterProxy/,
    );
  });

  it("ends when a second agent with its identity connects", async () => {
    await hub.make("twice");
    const first = await hub.agent("twice", { api: apiOf(target) });
    await first.seen("connected");
    await using second = await hub.agent("twice", { api: apiOf(target), certificate: first.kept[0] as never });
    await second.seen("connected");
    expect(String(await first.agent.ended)).to.match(/another agent with the same certificate has replaced this one/);
    await hub.until("twice", isReady);
    expect((await hub.at("twice").get("/api", { user: "alice" })).status).to.equal(200);
    expect(second.events.map(({ type }) => type)).not.to.include("disconnected");
  });

  it("is replaced by an agent that is enrolled later", async () => {
    await hub.make("replaced");
    await using first = await hub.agent("replaced", { api: apiOf(target) });
    await first.seen("connected");
    await using second = await hub.agent("replaced", { api: apiOf(target) });
    await second.seen("connected");
    await first.seen("disconnected");
    expect(String((await first.seen("failed")).error)).to.match(/another agent has been enrolled since/);
  });

  it("is rejected once it is revoked, until it is enrolled again", async () => {
    await hub.make("revoked");
    await using first = await hub.agent("revoked", { api: apiOf(target) });
    await hub.until("revoked", isReady);
    await hub.change("revoked", { spec: { revokedBefore: new Date(Date.now() + 3_000).toISOString() } });
    await first.seen("disconnected");
    expect(String((await first.seen("failed")).error)).to.match(/enrolled before spec.revokedBefore/);
    const proxy = await hub.until("revoked", (one) => conditionOf(one, "IdentityValid") === "False Revoked");
    expect(proxy.status.phase).to.equal("Unknown");
    expect((await requested(await hub.token("revoked"), "revoked"))[2]).to.match(/created before spec.revokedBefore/);
    ahead = 5_000;
    await using second = await hub.agent("revoked", { api: apiOf(target), now });
    await second.seen("connected");
    await hub.until("revoked", isReady);
  });

  it("is rejected with an expired certificate, with the reason", async () => {
    await hub.make("expired");
    const first = await hub.agent("expired", { api: apiOf(target) });
    await first.seen("connected");
    await first[Symbol.asyncDispose]();
    ahead = 31 * DAY;
    await using late = await hub.agent("expired", { api: apiOf(target), certificate: first.kept[0] as never, now });
    expect(String((await late.seen("failed")).error)).to.match(
      /certificate is not valid by this server's clock, until 20/,
    );
  });

  it("uses the hub's clock if its own is wrong", async () => {
    await hub.make("clock");
    await using agent = await hub.agent("clock", { api: apiOf(target), now: () => new Date(Date.now() - 3 * DAY) });
    await agent.seen("connected");
    await hub.until("clock", isReady);
    expect(agent.events.map(({ type }) => type)).not.to.include("failed");
  });

  it("renews its certificate in time and continues", async () => {
    await using short = await TestHub.start({ certificateLifetime: 2_000 });
    await short.make("renewed");
    await using agent = await short.agent("renewed", { api: apiOf(target) });
    await agent.seen("certified", 3);
    expect(new Set(agent.kept.map(({ key }) => key)).size).to.be.at.least(3);
    expect((await short.at("renewed").get("/api", { user: "alice" })).status).to.equal(200);
    expect(agent.events.map(({ type }) => type)).not.to.include("disconnected");
  });

  it("may open tunnels and nothing else, with a proof that is valid once", async () => {
    await hub.make("proof");
    await using agent = await hub.agent("proof", { api: apiOf(target) });
    await agent.seen("connected");
    const [pair] = agent.kept;
    if (pair === undefined) throw new Error("no certificate was kept");
    const proof = newProof(pair, new Date());
    const ask = (user: string) => hub.agentsAt("proof").get("/apis/agents.proxy.kcp.io/v1alpha1/agenttokens", { user });
    expect(outcome(await ask(proof))[2]).to.match(/agents may only renew/);
    expect((await ask(proof)).status).to.equal(401);
    expect((await hub.agentsAt("proof").get("/tunnel", { user: newProof(pair, new Date()) })).status).to.equal(403);
    expect(
      (await hub.agentsAt("proof").get("/tunnel", { user: newProof(pair, new Date(Date.now() - 200_000)) })).status,
    ).to.equal(401);
    expect((await hub.at("proof").get("/api", { user: newProof(pair, new Date()) })).status).to.equal(401);
  });

  it("gets 503 while the hub's Secret is invalid, and is enrolled after its deletion", async () => {
    await using other = await TestHub.start();
    const secrets = "/clusters/root/api/v1/namespaces/kcp-system/secrets";
    const data = { "tls.crt": "", "tls.key": "" };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kcp-system" } };
    await other.server.send("POST /clusters/root/api/v1/namespaces", namespace, { user: "root" });
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/tls",
      metadata: { name: "clusterproxy-hub" },
      data,
    };
    expect((await other.server.send(`POST ${secrets}`, secret, { user: "root" })).status).to.equal(201);
    await other.make("keyless");
    const proof = newProof(
      await issueCertificate({ subject: { name: "a", groups: [] }, purpose: { kind: "client" }, now: new Date() }),
      new Date(),
    );
    expect(outcome(await other.agentsAt("keyless").get("/tunnel", { user: proof }))).to.deep.equal([
      503,
      "ServiceUnavailable",
      "the keys to authenticate agents are unavailable: try again",
    ]);
    expect(String(other.errors.at(-1))).to.match(
      /the Secret kcp-system\/clusterproxy-hub in root holds no certificate and key: delete it/,
    );
    expect(
      (await other.server.send(`DELETE ${secrets}/clusterproxy-hub`, undefined, { user: "root" })).status,
    ).to.equal(200);
    await using agent = await other.agent("keyless", { api: apiOf(target) });
    await agent.seen("connected");
  });
});
