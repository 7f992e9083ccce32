// Requests to mounted workspaces: their access, errors of mounts that are not ready, and the end of open requests.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import type { MountedServersOptions } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type CallOptions, label, outcome, startPlain } from "../../_support/plain.ts";
import { Wire } from "../../_support/wire.ts";
import { makeAdmin, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces, type WorkspacesOptions } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const WORKSPACES = "/clusters/root:org/apis/tenancy.kcp.io/v1alpha1/workspaces";
const root: CallOptions = { user: "root" };
const alice: CallOptions = { user: "alice" };
const MERGE = { ...root, headers: { "content-type": "application/merge-patch+json" } };

/** Workspaces with mounts (`root:org`) and targets of links (`root:far`); alice administers both. */
class World implements AsyncDisposable {
  readonly server: Workspaces;

  private constructor(server: Workspaces) {
    this.server = server;
  }

  static async start(options: WorkspacesOptions = {}): Promise<World> {
    const server = await startWorkspaces(undefined, options);
    for (const name of ["org", "far"]) await makeAdmin(server, await makeWorkspace(server, name), "alice");
    return new World(server);
  }

  /** Creates a mounted workspace in the state its controller leaves. */
  async mount(name: string, url: string, phase = "Ready"): Promise<void> {
    const ref = { apiVersion: "example.dev/v1", kind: "RemoteCluster", name: `of-${name}` };
    const body = {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name },
      spec: { mount: { ref } },
    };
    const made = await this.server.send(`POST ${WORKSPACES}`, body, alice);
    expect(made.status, made.text).to.equal(201);
    await this.lead(name, url);
    await this.turn(name, phase);
  }

  async lead(name: string, url: string): Promise<void> {
    const { status, text } = await this.server.send(`PATCH ${WORKSPACES}/${name}`, { spec: { URL: url } }, MERGE);
    expect(status, text).to.equal(200);
  }

  /** Sets the phase as the mount's controller does. */
  async turn(name: string, phase: string): Promise<void> {
    const isReady = phase === "Ready";
    const why = { reason: "MountObjectNotReady", severity: "Error", message: "Mount is not reporting ready." };
    const condition = {
      ...{
        type: "WorkspaceMountReady",
        status: isReady ? "True" : "False",
        lastTransitionTime: "2026-01-02T03:04:05Z",
      },
      ...(isReady ? {} : why),
    };
    const { status, text } = await this.server.send(
      `PATCH ${WORKSPACES}/${name}/status`,
      { status: { phase, conditions: [condition] } },
      MERGE,
    );
    expect(status, text).to.equal(200);
  }

  async write(path: string, name: string): Promise<void> {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
    const { status, text } = await this.server.send(`POST /${path}${MAPS}`, map, alice);
    expect(status, text).to.equal(201);
  }

  link(path: string): string {
    return `${this.server.url}/clusters/${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

describe("mounted workspaces", function () {
  this.timeout(30_000);
  let world: World;

  before(async () => {
    world = await World.start();
  });
  after(() => world[Symbol.asyncDispose]());

  it("show the target of a link: writes through one are events in the other, and deleting the link keeps the target", async () => {
    const { server } = world;
    await world.mount("link", world.link("root:far"));
    await using far = await server.watch(`/clusters/root:far${MAPS}?watch=true&resourceVersion=0`, alice);
    await using near = await server.watch(`/clusters/root:org:link${MAPS}?watch=true&resourceVersion=0`, alice);
    for (const watch of [far, near]) await watch.until((event) => label(event) === "ADDED kube-root-ca.crt");
    await world.write("clusters/root:org:link", "by-link");
    await world.write("clusters/root:far", "by-path");
    for (const watch of [far, near]) expect(await watch.take(2)).to.deep.equal(["ADDED by-link", "ADDED by-path"]);
    const through = await server.get(`/clusters/root:org:link${MAPS}/by-path`, alice);
    expect(through.text).to.equal((await server.get(`/clusters/root:far${MAPS}/by-path`, alice)).text);
    // The target decides, and sees the caller.
    const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const who = await server.send(
      `POST /clusters/root:org:link${reviews}`,
      { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" },
      alice,
    );
    expect(who.body.status.userInfo.username).to.equal("alice");
    expect((await server.send(`DELETE ${WORKSPACES}/link`, undefined, alice)).status).to.equal(200);
    expect((await near.rest()).map(label), "ended, not cut").to.deep.equal([]);
    expect((await server.get(`/clusters/root:org:link${MAPS}`, alice)).status).to.equal(404);
    expect((await server.get(`/clusters/root:far${MAPS}/by-link`, alice)).status).to.equal(200);
  });

  it("answer 503 while not ready, with the mounted object, the time and the reason, and never another workspace's content", async () => {
    const { server } = world;
    const body = {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name: "slow" },
      spec: { mount: { ref: { apiVersion: "example.dev/v1", kind: "RemoteCluster", name: "lab" } } },
    };
    expect((await server.send(`POST ${WORKSPACES}`, body, alice)).status).to.equal(201);
    const ask = (who = alice) => server.get(`/clusters/root:org:slow${MAPS}`, who);
    const first = await ask();
    expect(outcome(first).slice(0, 2)).to.deep.equal([503, "ServiceUnavailable"]);
    expect(first.headers["retry-after"]).to.equal("1");
    expect(first.body.message).to.match(
      /^the workspace root:org:slow is mounted on RemoteCluster "lab", which is not ready: the Workspace is in the phase Scheduling since 20\d\d-/,
    );
    await world.lead("slow", world.link("root:far"));
    await world.turn("slow", "Unavailable");
    const text =
      'the workspace root:org:slow is mounted on RemoteCluster "lab", which is not ready: the Workspace is in the phase Unavailable since 2026-01-02T03:04:05Z: Mount is not reporting ready.';
    expect(outcome(await ask())).to.deep.equal([503, "ServiceUnavailable", text]);
    expect((await ask({ user: "bob" })).status, "who may not enter is told nothing").to.equal(403);
    await world.turn("slow", "Ready");
    expect((await ask()).status).to.equal(200);
  });

  it("require access to the parent workspace, whatever the caller's rights at the target", async () => {
    const { server } = world;
    await world.mount("door", world.link("root:far"));
    const name = await makeWorkspace(server, "other");
    await makeAdmin(server, name, "bob");
    await world.lead("door", world.link("root:other"));
    expect((await server.get(`/clusters/root:other${MAPS}`, { user: "bob" })).status).to.equal(200);
    expect(outcome(await server.get(`/clusters/root:org:door${MAPS}`, { user: "bob" }))).to.deep.equal([
      403,
      "Forbidden",
      'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "default": workspace access not permitted',
    ]);
    expect(
      (await server.get(`/clusters/root:org:door${MAPS}`, { headers: { authorization: "Bearer nobody" } })).status,
    ).to.equal(401);
  });

  it("have no workspaces below them", async () => {
    await world.mount("leaf", world.link("root:far"));
    const { status, body } = await world.server.get(`/clusters/root:org:leaf:a:b${MAPS}`, alice);
    expect(status).to.equal(404);
    expect(body.message).to.equal(
      "the workspace root:org:leaf is mounted, so this server serves no workspaces below it: use the server or the workspace that it leads to",
    );
    expect((await world.server.get(`/clusters/root:org:leaf:a${MAPS}`, { user: "bob" })).status).to.equal(403);
  });

  it("end open requests when their target changes or they are no longer ready", async () => {
    const { server } = world;
    await world.mount("moving", world.link("root:far"));
    const watched = async () => {
      const watch = await server.watch(`/clusters/root:org:moving${MAPS}?watch=true&resourceVersion=0`, alice);
      await watch.until((event) => label(event) === "ADDED kube-root-ca.crt");
      return watch;
    };
    await using first = await watched();
    await world.lead("moving", world.link("root:org"));
    await first.rest();
    await using second = await watched();
    await world.turn("moving", "Unavailable");
    await second.rest();
    await using third = await server.watch(`/clusters/root:org:moving${MAPS}?watch=true`, alice);
    expect(third.status).to.equal(503);
  });

  it("report a cycle of links", async () => {
    await world.mount("one", world.link("root:org:two"));
    await world.mount("two", world.link("root:org:one"));
    const { status, body } = await world.server.get(`/clusters/root:org:one${MAPS}`, alice);
    expect([status, body.reason]).to.deep.equal([500, "InternalError"]);
    expect(body.message).to.match(/hops|servers/);
  });

  it("reject targets at other servers by default, with the reason", async () => {
    await world.mount("foreign", "http://127.0.0.1:1/base");
    const { status, body } = await world.server.get(`/clusters/root:org:foreign${MAPS}`, alice);
    expect([status, body.message]).to.deep.equal([
      503,
      "the mount target of workspace foreign is unusable: it is at another server, which is not enabled",
    ]);
  });
});

describe("workspaces mounted on a view or another server", function () {
  this.timeout(30_000);
  const mayAskPlain: MountedServersOptions["mayAskPlain"] = (host) => host === "lab.test" || host === "::1";

  /** Answers with the request, and echoes on upgraded connections. */
  function echo(heard: IncomingMessage[] = []) {
    return defineVirtualWorkspace({
      name: "echo",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      handle: (req, res, { user, tail, search, prefix }) => {
        heard.push(req);
        res.setHeader("content-type", "application/json");
        res.end(JSON.stringify({ user: user.name, tail, search, prefix }));
      },
      upgrade: (_, socket, { head }) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
        socket.write(head);
        socket.pipe(socket);
      },
    });
  }

  it("call a view of this server in the process, as the caller", async () => {
    await using world = await World.start({ virtualWorkspaces: [echo()] });
    await world.mount("view", `${world.server.url}/services/echo/clusters/x`);
    const { body } = await world.server.get("/clusters/root:org:view/api/v1/pods?limit=5", alice);
    expect(body).to.deep.equal({
      user: "alice",
      tail: "/api/v1/pods",
      search: "?limit=5",
      prefix: "/services/echo/clusters/x",
    });
  });

  it("send other servers no identity and no token by default; upgraded connections end with the mount", async () => {
    const heard: IncomingMessage[] = [];
    await using other = await startPlain([echo(heard)], { authentication: [anonymous()] });
    const port = Number(new URL(other.url).port);
    const dialled: string[] = [];
    const dial: MountedServersOptions["dial"] = async ({ host }) => {
      dialled.push(host);
      return connect({ port, host: "127.0.0.1" });
    };
    await using world = await World.start({ mounts: { others: { dial, mayAskPlain } } });
    await world.mount("lab", "http://lab.test/services/echo/clusters/x/");
    const { body } = await world.server.get("/clusters/root:org:lab/api/v1/pods", alice);
    expect(body).to.include({ user: "system:anonymous", tail: "/api/v1/pods", prefix: "/services/echo/clusters/x" });
    expect(dialled).to.deep.equal(["lab.test"]);
    expect(
      Object.keys(heard[0]?.headers ?? {}).filter((name) => /^(authorization|x-remote|impersonate)/.test(name)),
    ).to.deep.equal([]);

    using wire = await Wire.open(Number(new URL(world.server.url).port));
    const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: test"];
    wire.request("GET /clusters/root:org:lab/x HTTP/1.1", ...lines);
    const head = "HTTP/1.1 101 Switching Protocols\r\n";
    expect(String(await wire.read(head.length))).to.equal(head);
    await wire.begun();
    wire.send("ping");
    await world.turn("lab", "Unavailable");
    await wire.cut();
  });

  it("send the caller without system groups to servers that trust the client certificate", async () => {
    const heard: IncomingMessage[] = [];
    // A plain Node.js server: ours strips identity headers before a handler sees them.
    await using other = createServer((req, res) => {
      heard.push(req);
      res.end("{}");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const dial: MountedServersOptions["dial"] = async () => connect({ port, host: "127.0.0.1" });
    const credentials = { get: () => ({}) };
    await using world = await World.start({ mounts: { others: { dial, credentials, mayAskPlain } } });
    await world.mount("lab", "http://lab.test/services/echo/clusters/x");
    const path = "/clusters/root:org:lab/api/v1/pods";
    const headers = { "x-remote-group": "system:masters", "x-remote-extra-scopes": "all" };
    expect((await world.server.get(path, { ...alice, headers })).status).to.equal(200);
    expect((await world.server.get(path, root)).status).to.equal(200);
    const said = heard.map(({ headersDistinct }) =>
      Object.entries(headersDistinct).filter(([name]) => name.startsWith("x-remote-")),
    );
    expect(said.map((all) => Object.fromEntries(all))).to.deep.equal([
      { "x-remote-user": ["alice"], "x-remote-group": ["system:authenticated"] },
      { "x-remote-user": ["shard-admin"], "x-remote-group": ["system:authenticated"] },
    ]);
  });

  it("call other servers by plain HTTP only if the host is allowed, since it exposes the caller's identity", async () => {
    await using other = await startPlain([echo()], { authentication: [anonymous()] });
    const dialled: string[] = [];
    const dial: MountedServersOptions["dial"] = async ({ host }) => {
      dialled.push(host);
      return connect({ port: Number(new URL(other.url).port), host: "127.0.0.1" });
    };
    const credentials = { get: () => ({}) };
    await using world = await World.start({ mounts: { others: { dial, credentials, mayAskPlain } } });
    await world.mount("lab", "http://far.test/services/echo/clusters/x");
    const refused = [
      503,
      "ServiceUnavailable",
      "the mount target of workspace lab is unusable: it is at another server, by plain HTTP, which this server's administrator has not allowed for that host: use a URL that begins with https",
    ];
    const ask = () => world.server.get("/clusters/root:org:lab/api/v1/pods", alice);
    expect(outcome(await ask())).to.deep.equal(refused);
    await world.lead("lab", "ftp://far.test/services/echo/clusters/x");
    expect((await ask()).status).to.equal(503);
    expect(dialled).to.deep.equal([]);
    await world.lead("lab", "http://[::1]/services/echo/clusters/x");
    expect((await ask()).status).to.equal(200);
    expect(dialled).to.deep.equal(["::1"]);
  });
});
