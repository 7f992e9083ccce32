// Remote clusters through the view over real sockets: an agent dials, and only it can reach the API server.
import { request } from "node:http";
import { expect } from "chai";
import { type CallOptions, outcome } from "../../_support/plain.ts";
import { linesOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, type TestAgent, TestHub } from "./support/hub.ts";

describe("remote cluster", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;
  let agent: TestAgent;

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget((req, res) => {
      if (req.url === "/api/v1/held")
        return void res.writeHead(200, { "content-type": "application/json" }).write("{}\n");
      if (req.url === "/api/v1/moved") return void res.writeHead(302, { location: "https://elsewhere.example/" }).end();
      if (req.url === "/api/v1/cookies") return void res.writeHead(200, { "set-cookie": "a=b" }).end();
      res.end(`${req.method} ${req.url}`);
    });
    await hub.make("shop");
    agent = await hub.agent("shop", { api: apiOf(target), version: "1.2.3" });
    await hub.until("shop", isReady);
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  const said = async (path: string, options: CallOptions): Promise<string[]> => {
    const answer = await hub.at("shop").get(path, options);
    expect(answer.status, answer.text).to.equal(200);
    return linesOf(target.asked.at(-1) as never);
  };

  it("has a status with its URL, as mounts do", async () => {
    const { status, metadata } = await hub.until("shop", isReady);
    const url = `${hub.server.url}/services/clusterproxy/${hub.edge}/shop`;
    expect([status.URL, status.virtualWorkspaces]).to.deep.equal([url, [{ url }]]);
    expect(status.agent).to.include({ version: "1.2.3", epoch: 1 });
    expect(Date.parse(status.agent.lastHeartbeatTime)).to.be.greaterThan(Date.parse(metadata.creationTimestamp) - 1);
    for (const type of ["Ready", "IdentityValid", "VirtualWorkspaceURLsReady", "AgentConnected"])
      expect(conditionOf({ status }, type), type).to.equal("True");
    expect(metadata.annotations["experimental.tenancy.kcp.io/is-mount"]).to.equal("true");
  });

  it("is called as the caller with the agent's credential, also at the path of its workspace", async () => {
    const answer = await hub.at("shop").get("/api/v1/pods?limit=5", { user: "alice" });
    expect([answer.status, answer.text]).to.deep.equal([200, "GET /api/v1/pods?limit=5"]);
    const lines = linesOf(target.asked.at(-1) as never);
    expect(lines).to.include.members([
      "impersonate-user: alice",
      "impersonate-group: system:authenticated",
      "authorization: Bearer agents-own",
    ]);
    expect((await hub.at("shop", "root:edge").get("/api/v1/pods", { user: "alice" })).text).to.equal(
      "GET /api/v1/pods",
    );
  });

  it("grants no rights for rights on this server, and ignores a client's impersonation headers", async () => {
    const lines = await said("/api", {
      user: "root",
      headers: { "x-remote-user": "system:admin", "x-remote-group": "system:masters" },
    });
    expect(lines.filter((line) => /impersonate|x-remote|masters/.test(line))).to.deep.equal([
      "impersonate-user: shard-admin",
      "impersonate-group: system:authenticated",
    ]);
    const before = target.asked.length;
    const asController = await hub.at("shop").get("/api", {
      user: "root",
      headers: { "impersonate-user": "system:kube-scheduler", "impersonate-group": "system:masters" },
    });
    expect(outcome(asController)).to.deep.equal([
      403,
      "Forbidden",
      'forbidden: "system:kube-scheduler" has no identity in remote clusters, since names that start with system: belong to each cluster: log in as a user',
    ]);
    expect(target.asked.length).to.equal(before);
  });

  it("is available to users with the verb on clusterproxies/proxy in its workspace, and to no others", async () => {
    expect((await hub.at("shop").get("/api/v1/pods", { user: "carol" })).status).to.equal(200);
    const before = target.asked.length;
    expect(
      outcome(await hub.at("shop").send("POST /api/v1/namespaces/default/pods", {}, { user: "carol" }))[0],
    ).to.equal(403);
    expect(
      outcome(await hub.at("shop").send("DELETE /api/v1/namespaces/default/pods/a", {}, { user: "carol" }))[0],
    ).to.equal(403);
    expect((await hub.at("shop").get("/api", { user: "bob" })).status).to.equal(403);
    expect((await hub.at("none").get("/api", { user: "bob" })).status).to.equal(403);
    expect((await hub.at("shop").get("/api", { user: "nobody" })).status).to.equal(401);
    expect(outcome(await hub.at("none").get("/api", { user: "alice" }))).to.deep.equal([
      404,
      "NotFound",
      'clusterproxies.proxy.kcp.io "none" not found',
    ]);
    expect(await upgraded("carol", "/api/v1/namespaces/default/pods/a/exec")).to.equal("403");
    expect(target.asked.length).to.equal(before);
  });

  it("has the same response as an unknown path or name for users without rights", async () => {
    const denied = async (path: string, options: CallOptions): Promise<string> => {
      const { status, text } = await hub.server.get(path, options);
      expect(status, text).to.equal(403);
      return text;
    };
    for (const options of [{ user: "bob" }, { user: "bob", headers: { "impersonate-user": "carol" } }])
      for (const view of ["clusterproxy", "clusterproxy-agents"])
        for (const tail of ["/api", "/api/v1/pods?watch=true", "/tunnel"]) {
          const there = await denied(`/services/${view}/root:edge/shop${tail}`, options);
          for (const other of ["root:none", "root:edge:none", "none", "system:none"])
            expect(await denied(`/services/${view}/${other}/shop${tail}`, options), `${view}${tail}`).to.equal(
              there.replaceAll("root:edge", other),
            );
        }
    expect(outcome(await hub.at("shop", "root:none").get("/api", { user: "root" }))).to.deep.equal([
      404,
      "NotFound",
      'clusterproxies.proxy.kcp.io "shop" not found',
    ]);
  });

  it("supports upgrades, with the ends and errors of the remote cluster", async () => {
    expect(await upgraded("alice", "/api/v1/namespaces/default/pods/a/exec")).to.equal("101 hello more");
  });

  it("neither follows nor returns a redirect, and removes headers for browsers", async () => {
    const moved = await hub.at("shop").get("/api/v1/moved", { user: "alice" });
    expect([moved.status, moved.body.message]).to.deep.equal([
      503,
      "the API server of the remote cluster redirects to another host, and this server forwards no such redirect",
    ]);
    expect((await hub.at("shop").get("/api/v1/cookies", { user: "alice" })).headers).not.to.have.property("set-cookie");
  });

  it("has metrics at its server's /metrics, without its name", async () => {
    await hub.at("shop").get("/api/v1/pods", { user: "alice" });
    const { text } = await hub.server.get("/metrics", { user: "root" });
    const counted = new Map(
      text
        .split("\n")
        .filter((line) => line.startsWith("clusterproxy_"))
        .map((line) => line.split(" ") as [string, string]),
    );
    expect([counted.get("clusterproxy_tunnels"), counted.get("clusterproxy_tunnels_opened_total")]).to.deep.equal([
      "1",
      "1",
    ]);
    for (const name of [
      "clusterproxy_tunnel_streams_opened_total",
      'clusterproxy_tunnel_bytes_total{direction="sent"}',
      'clusterproxy_tunnel_bytes_total{direction="received"}',
    ])
      expect(Number(counted.get(name)), name).to.be.greaterThan(0);
    expect(text).not.to.match(/shop/);
  });

  it("loses open requests when its object is deleted, and is another one when that is created again", async () => {
    await hub.make("gone");
    await using other = await hub.agent("gone", { api: apiOf(target) });
    await hub.until("gone", isReady);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const held = request(`${hub.server.url}/services/clusterproxy/${hub.edge}/gone/api/v1/held`, {
      agent: false,
      headers: { authorization: "Bearer alice" },
    })
      .on("error", () => resolve())
      .on("response", (res) => {
        res.on("error", () => resolve()).on("close", () => resolve());
        res.once("data", () => void hub.remove("gone"));
      });
    held.end();
    await over;
    await other.seen("disconnected");
    const { error } = await other.seen("failed");
    expect(String(error)).to.match(/the ClusterProxy does not exist/);
    await hub.make("gone");
    expect(String((await other.seen("failed", 2)).error)).to.match(/created again under the same name/);
  });

  /** Returns the result of a WebSocket: the status, and its data after `more`. */
  function upgraded(user: string, path: string): Promise<string> {
    const headers = { authorization: `Bearer ${user}`, connection: "Upgrade", upgrade: "websocket" };
    const req = request(`${hub.server.url}/services/clusterproxy/${hub.edge}/shop${path}`, {
      agent: false,
      headers,
    }).end();
    return new Promise((resolve, reject) => {
      req.on("error", reject);
      req.on("response", (res) => {
        resolve(String(res.statusCode));
        res.destroy();
      });
      req.on("upgrade", (res, socket, head) => {
        let text = String(head);
        socket.on("data", (piece) => {
          text += String(piece);
          if (text === "hello ") socket.write("more");
          else if (text === "hello more") {
            socket.destroy();
            resolve(`${res.statusCode} ${text}`);
          }
        });
        if (text === "hello ") socket.write("more");
      });
    });
  }
});
