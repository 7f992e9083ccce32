// The workspace that holds a ClusterProxy, reached at its URL by a header.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { type CallOptions, outcome } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { labelOf, openWatch } from "../../_support/web-socket.ts";
import { grant } from "../../workspace-server/support/logical-clusters.ts";
import { startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, isReady, OtherHub, TestHub } from "./support/hub.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MAPS = "/api/v1/namespaces/default/configmaps";

describe("X-Virtual-Workspaces-Direct", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget();
    await hub.make("shop");
    await hub.until("shop", ({ status }) => status?.virtualWorkspaces !== undefined);
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  const direct = (user: string, value = "true"): CallOptions => ({
    user,
    headers: { "X-Virtual-Workspaces-Direct": value },
  });
  const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { of: "edge" } });

  it("reaches the workspace itself as the caller, with or without an agent", async () => {
    const at = hub.at("shop");
    expect((await at.get(MAPS, { user: "alice" })).status).to.equal(503);
    expect((await at.send(`POST ${MAPS}`, map("one"), direct("alice"))).status).to.equal(201);
    const seen = await hub.server.get(`/clusters/${hub.edge}${MAPS}/one`, { user: "root" });
    expect(seen.body.data).to.deep.equal({ of: "edge" });
    await using watch = await at.watch(`${MAPS}?watch=true`, direct("alice"));
    await watch.until(({ object }) => object.metadata.name === "one");
    const headers = { authorization: "Bearer alice", "X-Virtual-Workspaces-Direct": "true", origin: hub.server.url };
    const path = `/services/clusterproxy/${hub.edge}/shop${MAPS}?watch=true&fieldSelector=metadata.name%3Done`;
    using socket = await openWatch(hub.server.url, `${path}&resourceVersion=0`, { headers });
    expect(labelOf(await socket.next())).to.equal("ADDED one");
    expect((await hub.at("shop", "root:edge").get(`${MAPS}/one`, direct("alice"))).status).to.equal(200);

    await using _ = await hub.agent("shop", { api: apiOf(target) });
    await hub.until("shop", isReady);
    expect((await at.get(MAPS, { user: "alice" })).text).to.equal(`GET ${MAPS}`);
    expect((await at.get(`${MAPS}/one`, direct("alice"))).body.data).to.deep.equal({ of: "edge" });
  });

  it("requires use of clusterproxies/direct, and grants nothing beyond the workspace's rules", async () => {
    // Carol may read everything: in the remote cluster, and in the workspace at its own URL.
    expect((await hub.server.get(`/clusters/${hub.edge}${MAPS}`, { user: "carol" })).status).to.equal(200);
    const refused = await hub.at("shop").get(MAPS, direct("carol"));
    expect(outcome(refused)).to.deep.equal([
      403,
      "Forbidden",
      'clusterproxies.proxy.kcp.io "shop" is forbidden: User "carol" cannot use resource "clusterproxies/direct" in its workspace',
    ]);
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "direct" } };
    const rules = [{ apiGroups: ["proxy.kcp.io"], resources: ["clusterproxies/direct"], verbs: ["use"] }];
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "dave" }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "direct" };
    const root = { user: "root" };
    const roles = `clusters/${hub.edge}${RBAC}`;
    expect((await hub.server.send(`POST /${roles}/clusterroles`, { ...role, rules }, root)).status).to.equal(201);
    const binding = { ...role, kind: "ClusterRoleBinding", roleRef, subjects };
    expect((await hub.server.send(`POST /${roles}/clusterrolebindings`, binding, root)).status).to.equal(201);
    await grant(hub.server, hub.edge, { user: "dave", verbs: ["get", "list", "watch"] });
    expect((await hub.at("shop").get(MAPS, direct("dave"))).status).to.equal(200);
    const write = await hub.at("shop").send("PATCH /api/v1/namespaces/default", {}, direct("dave"));
    expect(write.status).to.equal(403);
    // A user without access to the workspace gets the same response with and without the header.
    for (const options of [direct("bob"), { user: "bob" }])
      expect((await hub.at("shop").get(MAPS, options)).status).to.equal(403);
  });

  it("ends open requests when the permission is withdrawn or the ClusterProxy is deleted", async () => {
    await hub.make("left");
    await hub.until("left", ({ status }) => status?.virtualWorkspaces !== undefined);
    const open = (user: string) => hub.at("left").watch(`${MAPS}?watch=true`, direct(user));
    await using daves = await open("dave");
    const gone = `clusters/${hub.edge}${RBAC}/clusterrolebindings/direct`;
    expect((await hub.server.send(`DELETE /${gone}`, undefined, { user: "root" })).status).to.equal(200);
    await daves.rest();
    await using alices = await open("alice");
    await hub.remove("left");
    await alices.rest();
  });

  it("is not forwarded to the workspace", async () => {
    const told: string[] = [];
    class Recorded extends Upstream {
      override stream(request: Parameters<Upstream["stream"]>[0]): ReturnType<Upstream["stream"]> {
        told.push(...(request.headers ?? []));
        return super.stream(request);
      }
    }
    const credential = { headers: ["Authorization", "Bearer root"] };
    await using upstream = new Recorded({ url: hub.server.url, credentials: { get: () => credential } });
    await using other = await OtherHub.start(hub, { upstream });
    const options = { ...direct("alice"), headers: { ...direct("alice").headers, "x-of-the-client": "stays" } };
    const answer = await untilAnswer(
      () => other.at("shop", hub).get(`${MAPS}/one`, options),
      ({ status }) => status !== 503,
    );
    expect(answer.body.data).to.deep.equal({ of: "edge" });
    expect(told).to.include.members(["x-of-the-client", "Impersonate-User", "alice"]);
    expect(told.join("\n")).not.to.match(/virtual-workspaces-direct/i);
  });

  it("forwards an upgrade to the workspace", async () => {
    const headers = { ...direct("alice").headers, connection: "Upgrade", upgrade: "websocket" };
    const answer = await hub.at("shop").get(`${MAPS}/one`, { user: "alice", headers });
    // No kind of the workspace supports upgrades, so its server rejects this one.
    expect([answer.status, answer.body.kind]).to.deep.equal([400, "Status"]);
  });

  it("copies bytes both ways after an upgrade, such as that of a virtual storage", async () => {
    const told: IncomingHttpHeaders[] = [];
    // A proxy before the workspace accepts upgrades and forwards everything else.
    const before = createServer((req, res) => {
      const on = request(
        `${hub.server.url}${req.url}`,
        { method: req.method ?? "GET", headers: req.headers },
        (answer) => {
          res.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.on("error", () => res.destroy()).pipe(res);
        },
      );
      on.on("error", () => res.destroy());
      req.pipe(on);
    });
    before.on("upgrade", ({ headers }: IncomingMessage, socket: Duplex) => {
      told.push(headers);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      socket.on("error", () => undefined).pipe(socket);
    });
    await once(before.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(before.address() as AddressInfo).port}`;
    const credential = { headers: ["Authorization", "Bearer root"] };
    await using upstream = new Upstream({ url, credentials: { get: () => credential } });
    await using other = await OtherHub.start(hub, { upstream });
    const { port } = new URL(other.url);
    await untilAnswer(
      () => other.at("shop", hub).get(`${MAPS}/one`, direct("alice")),
      ({ status }) => status === 200,
    );
    const head = {
      Authorization: "Bearer alice",
      Connection: "Upgrade",
      Upgrade: "echo",
      "X-Virtual-Workspaces-Direct": "true",
    };
    const path = `/services/clusterproxy/${hub.edge}/shop${MAPS}/one/echo`;
    const asked = request({ host: "127.0.0.1", port, path, headers: head }).end();
    const [{ statusCode }, socket] = (await once(asked, "upgrade")) as [IncomingMessage, Duplex];
    expect(statusCode).to.equal(101);
    socket.write("there");
    expect(String((await once(socket, "data"))[0])).to.equal("there");
    expect(told.map((headers) => headers["impersonate-user"])).to.deep.equal(["alice"]);
    expect(told[0]).not.to.have.property("x-virtual-workspaces-direct");
    socket.end();
    await once(socket.resume(), "close");
    before.closeAllConnections();
    before.close();
  });

  it("rejects other values with 400, and an unknown ClusterProxy with 404", async () => {
    for (const value of ["yes", "TRUE", "", "false"])
      expect(outcome(await hub.at("shop").get(MAPS, direct("alice", value)))).to.deep.equal([
        400,
        "BadRequest",
        "invalid X-Virtual-Workspaces-Direct: use true for the workspace of the ClusterProxy itself, or omit the header",
      ]);
    expect((await hub.at("none").get(MAPS, direct("alice"))).status).to.equal(404);
  });
});
