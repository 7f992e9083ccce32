// Several hubs over one server: agents dial some of them, and requests arrive at any of them.
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect } from "chai";
import { signed } from "../../_support/issuer.ts";
import { type Answer, outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { linesOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, OtherHub, TestHub } from "./support/hub.ts";

const root = { user: "root" };
const alice = { user: "alice" };
const LEASES = "/clusters/root/apis/coordination.k8s.io/v1/namespaces/kcp-system/leases";
const OFTEN = { renewEvery: 40 };
const UPGRADE = { connection: "Upgrade", upgrade: "virtual-workspaces-stream.v1" };

describe("several hubs", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let other: OtherHub;
  let target: Target;

  before(async () => {
    hub = await TestHub.start({ ...OFTEN, grace: 300 });
    other = await OtherHub.start(hub, { ...OFTEN, grace: 300 });
    target = await startTarget((req, res) => {
      if (req.url?.includes("watch=true") === true)
        return void res.writeHead(200, { "content-type": "application/json" }).write('{"type":"BOOKMARK"}\n');
      res.end(`${req.method} ${req.url}`);
    });
  });
  after(async () => {
    await other?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  const leases = async (): Promise<Answer["body"][]> => (await hub.server.get(LEASES, root)).body.items;
  const held = async (name: string, count: number): Promise<Answer["body"]> =>
    hub.until(name, (one) => isReady(one) && one.status.agent.hubs.length === count);
  /** Returns the id of a hub by its Lease. */
  async function idOf(url: string): Promise<string> {
    const found = (await leases()).find(
      ({ metadata }) => metadata.annotations["clusterproxy.proxy.kcp.io/url"] === url,
    );
    return found.spec.holderIdentity;
  }

  it("have Leases, and are named in the status of each ClusterProxy", async () => {
    await hub.make("said");
    const at = (url: string) => ({ url: `${url}/services/clusterproxy/${hub.edge}/said` });
    const proxy = await hub.until("said", (one) => one.status?.virtualWorkspaces?.length === 2);
    expect(proxy.status.virtualWorkspaces).to.have.deep.members([at(hub.server.url), at(other.url)]);
    expect(proxy.status.URL).to.equal(at(hub.server.url).url);
    const [lease] = await leases();
    expect(lease.metadata.labels).to.deep.equal({ "clusterproxy.proxy.kcp.io/shard": "root" });
    expect(lease.spec).to.include({ leaseDurationSeconds: 15 });
  });

  it("forward a request once to a hub with the tunnel, as the caller", async () => {
    await hub.make("far");
    await using _ = await hub.agent("far", { api: apiOf(target), hubs: 1 });
    const { status } = await held("far", 1);
    expect(status.agent.hubs).to.deep.equal([await idOf(hub.server.url)]);
    const answer = await other.at("far", hub).get("/api/v1/pods?limit=5", alice);
    expect([answer.status, answer.text]).to.deep.equal([200, "GET /api/v1/pods?limit=5"]);
    const lines = linesOf(target.asked.at(-1) as never);
    expect(lines).to.include.members(["impersonate-user: alice", "impersonate-group: system:authenticated"]);
    expect(lines.filter((line) => line.startsWith("authorization"))).to.deep.equal([
      "authorization: Bearer agents-own",
    ]);
    expect((await other.at("far", hub).send("POST /api/v1/pods", {}, alice)).text).to.equal("POST /api/v1/pods");
    // A user without rights at one hub has none at the other.
    expect((await other.at("far", hub).get("/api/v1/pods", { user: "bob" })).status).to.equal(403);
    const { text } = await hub.server.get("/metrics", root);
    expect(text).to.match(/^clusterproxy_tunnels 1$/m);
  });

  it("have a tunnel of the same agent each, and lose no request when one of them shuts down", async () => {
    await hub.make("both");
    await using third = await OtherHub.start(hub, { ...OFTEN, grace: 300 });
    await using agent = await hub.agent("both", { api: apiOf(target), hub: third.agentsAt("both", hub), hubs: 2 });
    const { status } = await held("both", 2);
    const thirds = await idOf(third.url);
    expect(status.agent.hubs).to.include(thirds);
    const watch = await other.at("both", hub).watch("/api/v1/pods?watch=true", alice);
    await watch.next();
    await third[Symbol.asyncDispose]();
    // A watch over that hub ends as a whole, so that its client resumes.
    for (let times = 0; times < 20; times++)
      for (const at of [hub.at("both"), other.at("both", hub)])
        expect((await at.send("POST /api/v1/pods", {}, alice)).status).to.equal(200);
    const after = await hub.until("both", (one) => !one.status.agent.hubs.includes(thirds));
    expect(conditionOf(after, "AgentConnected")).to.equal("True");
    await watch[Symbol.asyncDispose]();
    expect((await leases()).map(({ spec }) => spec.holderIdentity)).not.to.include(thirds);
    await agent[Symbol.asyncDispose]();
    await hub.until("both", (one) => conditionOf(one, "AgentConnected") === "False Disconnected");
  });

  it("end watches cleanly over a hub that shuts down", async () => {
    await hub.make("watched");
    await using third = await OtherHub.start(hub, OFTEN);
    await using _ = await hub.agent("watched", { api: apiOf(target), hub: third.agentsAt("watched", hub), hubs: 1 });
    await held("watched", 1);
    const watch = await hub.at("watched").watch("/api/v1/pods?watch=true", alice);
    await watch.next();
    await third[Symbol.asyncDispose]();
    expect(await watch.rest()).to.deep.equal([]);
  });

  it("detect each other's end by missed renewals, and then send no requests there", async () => {
    await hub.make("gone");
    await using _ = await hub.agent("gone", { api: apiOf(target), hubs: 1 });
    await held("gone", 1);
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    closed.close();
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name: "clusterproxy-hub-dead",
        labels: { "clusterproxy.proxy.kcp.io/shard": "root" },
        annotations: { "clusterproxy.proxy.kcp.io/url": url },
      },
      spec: { holderIdentity: "dead", leaseDurationSeconds: 15 },
    };
    expect((await hub.server.send(`POST ${LEASES}`, lease, root)).status).to.equal(201);
    const path = `clusters/${hub.edge}/apis/proxy.kcp.io/v1alpha1/clusterproxies/gone/status`;
    const { status } = await hub.until("gone", () => true);
    const merge = { headers: { "content-type": "application/merge-patch+json" }, ...root };
    const hubs = ["dead", ...status.agent.hubs];
    expect((await hub.server.send(`PATCH /${path}`, { status: { agent: { hubs } } }, merge)).status).to.equal(200);
    expect((await other.at("gone", hub).send("POST /api/v1/pods", {}, alice)).status).to.equal(200);
    const after = await hub.until("gone", (one) => !one.status.agent.hubs.includes("dead"));
    expect(after.status.agent.hubs).to.deep.equal([await idOf(hub.server.url)]);
    for (let left = await leases(); left.some(({ spec }) => spec.holderIdentity === "dead"); ) left = await leases();
  });

  it("are found one by one by an agent behind a load balancer", async () => {
    await hub.make("balanced");
    const ports = [hub.server.url, other.url].map((url) => Number(new URL(url).port));
    let times = 0;
    const balancer = createServer((socket) => {
      const to = connect(ports[times++ % 2] as number, "127.0.0.1");
      socket.on("error", () => to.destroy()).pipe(to);
      to.on("error", () => socket.destroy()).pipe(socket);
    }).listen(0, "127.0.0.1");
    await once(balancer, "listening");
    const url = hub.agentsAt("balanced").url.replace(/:\d+/, `:${(balancer.address() as AddressInfo).port}`);
    const agent = await hub.agent("balanced", { api: apiOf(target), hub: { url } });
    await held("balanced", 2);
    await agent[Symbol.asyncDispose]();
    balancer.close();
  });

  it("are remembered by a restarted agent, and by one whose first hub is gone", async () => {
    await hub.make("restarted");
    const third = await OtherHub.start(hub, { ...OFTEN, grace: 300, certificateLifetime: 4_000 });
    const first = await hub.agent("restarted", { api: apiOf(target), hub: third.agentsAt("restarted", hub), hubs: 2 });
    await held("restarted", 2);
    await first.until(() => first.others.length >= 2);
    const [certificate, others] = [first.kept.at(-1), first.others];
    if (certificate === undefined) throw new Error("no certificate was kept");
    expect(others.map(({ url }) => url)).to.include(hub.agentsAt("restarted").url);
    await third[Symbol.asyncDispose]();
    // The agent uses another hub, since the configured one no longer responds.
    const renewed = first.kept.length;
    await first.until(() => first.kept.length > renewed);
    await first[Symbol.asyncDispose]();
    const told = third.agentsAt("restarted", hub);
    const kept = { certificate: first.kept.at(-1) ?? certificate, others };
    await using again = await hub.agent("restarted", { api: apiOf(target), hub: told, ...kept });
    const { hub: reached } = await again.seen("connected");
    expect(others.map(({ url }) => url)).to.include(reached);
    // A hub learns of the tunnels of another by the status of the ClusterProxy, and its clients get 503 until then.
    await until(async () => (await hub.at("restarted").get("/api/v1/pods", alice)).status === 200);
    expect(again.events.map(({ type }) => type)).not.to.include("disconnected");
  });

  describe("accept", () => {
    const stream = { "x-virtual-workspaces-target": "api", ...UPGRADE };
    let key: ReturnType<typeof createPrivateKey>;
    let id: string;

    before(async () => {
      await hub.make("asked");
      const secret = await hub.server.get("/clusters/root/api/v1/namespaces/kcp-system/secrets/clusterproxy-hub", root);
      key = createPrivateKey(Buffer.from(secret.body.data["tls.key"], "base64"));
      id = await idOf(hub.server.url);
    });

    /** Returns a hub token with the given changes. */
    function token({
      audience: aud = `clusterproxy-hub:${id}`,
      typ = "clusterproxy-hub+jwt",
      ahead = 0,
    }: {
      readonly audience?: string;
      readonly typ?: string;
      readonly ahead?: number;
    } = {}): string {
      const iat = Math.floor(Date.now() / 1000) + ahead;
      return signed({ alg: "ES256", typ }, { iss: "test", aud, iat, exp: iat + 60 }, { key, alg: "ES256" });
    }

    const asked = (user: string, headers: Readonly<Record<string, string>> = stream) =>
      hub.agentsAt("asked").get("/stream", { user, headers });

    it("a valid token of their key for themselves, and no other", async () => {
      expect(outcome(await asked(token()))).to.deep.equal([
        503,
        "ServiceUnavailable",
        "this hub has no tunnel to the agent of this ClusterProxy",
      ]);
      const others = [
        token({ audience: `clusterproxy-hub:${await idOf(other.url)}` }),
        token({ audience: "clusterproxy" }),
        token({ typ: "clusterproxy-join+jwt" }),
        token({ ahead: -120 }),
        token({ ahead: 120 }),
      ];
      for (const one of others) expect((await asked(one)).status).to.equal(401);
      expect((await asked("alice")).status).to.equal(404);
      expect((await asked("bob")).status).to.equal(403);
    });

    it("no agent as a hub, and no hub as anything else", async () => {
      expect(outcome(await asked(await hub.token("asked")))[0]).to.equal(403);
      const made = await hub.askToken("asked", token());
      expect(outcome(made)).to.deep.equal([403, "Forbidden", made.body.message]);
      expect(made.body.message).to.match(/hubs may only open streams of one another/);
      expect((await hub.at("asked").get("/api/v1/pods", { user: token() })).status).to.equal(401);
      expect((await asked(token(), { ...UPGRADE })).status).to.equal(400);
    });

    it("no requests of other hubs for tunnels that they do not have, and forward to no third hub", async () => {
      await using agent = await hub.agent("asked", { api: apiOf(target), hub: other.agentsAt("asked", hub), hubs: 1 });
      await held("asked", 1);
      expect((await hub.at("asked").get("/api/v1/pods", alice)).status).to.equal(200);
      expect((await asked(token())).status).to.equal(503);
      await agent[Symbol.asyncDispose]();
    });
  });
});
