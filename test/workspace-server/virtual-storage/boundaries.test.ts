// Access to a view that stores a resource: allowed users, their identity at the view, and rejected requests.
import { once } from "node:events";
import { connect } from "node:net";
import { relay, sameCaller } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { echo, failed, GROUP, Kept, root, type Told, WIDGETS } from "./support/kept.ts";

const EXPORT = "/apis/apis.kcp.io/v1alpha2/apiexports/widgets";
const ALL = { matchAll: true };

describe("a resource that a view stores", function () {
  this.timeout(30_000);
  const told: Told[] = [];
  let kept: Kept;
  let identity: string;

  before(async () => {
    const own = loopback();
    const back = relay({
      upstream: own.upstream,
      identity: sameCaller,
      path: ({ tail }) => tail.replace(/^\/again/, ""),
    });
    const circle = defineVirtualWorkspace({ name: "circle", path: "/", authorize: () => allow(), handle: back.handle });
    kept = await Kept.start({ loopback: own, virtualWorkspaces: [echo("echo", told), circle] });
    identity = (await new ClusterClient(kept.server, kept.provider).get(EXPORT)).body.status.identityHash;
  });

  beforeEach(async () => {
    await kept.says({ url: `${kept.server.url}/services/echo/x`, shards: ALL });
    told.length = 0;
  });

  after(() => kept[Symbol.asyncDispose]());

  it("is forwarded only for users whom the workspace allows", async () => {
    expect((await kept.in.get(WIDGETS, { user: "alice" })).status).to.equal(200);
    expect(told).to.have.length(1);
    expect(failed(await kept.in.get(WIDGETS, { user: "bob" }))).to.include({ code: 403 });
    expect(failed(await kept.in.send(`POST ${WIDGETS}`, {}, { user: "alice" }))).to.include({ code: 403 });
    for (const authorization of ["", "Bearer wrong"])
      expect((await kept.in.get(WIDGETS, { headers: { authorization } })).status).to.be.oneOf([401, 403]);
    expect(told).to.have.length(1);
  });

  it("is unavailable where it is not bound, or no longer bound", async () => {
    const cluster = await makeWorkspace(kept.server, "elsewhere");
    const client = new ClusterClient(kept.server, cluster);
    expect((await client.get(WIDGETS)).status).to.equal(404);
    await kept.bind(cluster);
    expect((await client.get(WIDGETS)).status).to.equal(200);
    await client.delete("/apis/apis.kcp.io/v1alpha2/apibindings/widgets");
    await client.gone(WIDGETS);
  });

  it("also requires permission by the export's maximal permission policy", async () => {
    const provider = new ClusterClient(kept.server, kept.provider);
    await provider.patch(EXPORT, { spec: { maximalPermissionPolicy: { local: {} } } });
    expect(failed(await kept.in.get(WIDGETS, { user: "alice" }))).to.include({ code: 403 });
    expect(told).to.deep.equal([]);
    await provider.patch(EXPORT, { spec: { maximalPermissionPolicy: null } });
    expect((await kept.in.get(WIDGETS, { user: "alice" })).status).to.equal(200);
  });

  it("is forwarded as the caller, whatever identity headers the client sends", async () => {
    const headers = {
      "x-remote-user": "mallory",
      "x-remote-group": "system:masters",
      "x-remote-extra-scopes": "all",
      x_remote_user: "mallory",
      "x-forwarded-for": "10.9.8.7",
      "x-own": "yes",
    };
    await kept.in.get(`${WIDGETS}/a?x=%2F`, { user: "alice", headers });
    const [{ user, path, headers: lines = [] } = { user: undefined, path: "" }] = told;
    expect(user).to.deep.equal({ name: "alice", groups: ["system:authenticated"] });
    expect(path).to.equal(`/x/clusters/${kept.shop}${WIDGETS}/a?x=%2F`);
    expect(lines.join("\n"))
      .to.include("yes")
      .and.not.match(/mallory|10\.9\.8\.7|authorization|impersonate/i);
    const masked = { "impersonate-user": "mallory", "impersonate-group": "system:masters" };
    expect((await kept.in.get(WIDGETS, { user: "alice", headers: masked })).status).to.equal(403);
    await kept.in.get(WIDGETS, { ...root, headers: { "impersonate-user": "alice" } });
    expect(told.at(-1)?.user.name).to.equal("alice");
  });

  it("forwards writes unchanged", async () => {
    for (const call of [`POST ${WIDGETS}`, `PUT ${WIDGETS}/a/status`, `DELETE ${WIDGETS}/a`] as const) {
      const { status, body } = await kept.in.send(call as `GET /`, { a: 1 });
      expect([status, body.path]).to.deep.equal([200, `/x/clusters/${kept.shop}${call.split(" ")[1]}`]);
    }
  });

  it("is served over all workspaces by its identity, as for shards, and by no other", async () => {
    const everywhere = (name: string): Promise<{ status: number; body: { path?: string } }> =>
      kept.server.get(`/clusters/*${GROUP}/${name}`, root);
    expect((await everywhere(`widgets:${identity}`)).body.path).to.equal(`/x/clusters/*${WIDGETS}`);
    expect((await everywhere(`widgets%3A${identity}?watch=true`)).body.path).to.equal(
      `/x/clusters/*${WIDGETS}?watch=true`,
    );
    expect((await everywhere("widgets")).status).to.equal(404);
    expect((await everywhere("widgets:abc")).status).to.equal(404);
    expect((await kept.in.get(`${WIDGETS}:${identity}/a:b`)).body.path).to.equal(
      `/x/clusters/${kept.shop}${WIDGETS}/a:b`,
    );
    expect((await kept.in.get(`${WIDGETS}/widgets:${identity}`)).body.path).to.match(/widgets:/);
    const path = `/clusters/*${WIDGETS}:${identity}` as const;
    const { code, message } = failed(await kept.server.send(`POST ${path}`, {}, root));
    expect([code, message]).to.satisfy(
      ([, said]: [number, string]) => code === 405 && said.endsWith("in the `*` logical cluster"),
    );
    expect((await kept.server.get(path, { user: "alice" })).status).to.equal(403);
  });

  it("rejects a forwarding loop", async () => {
    await kept.says({ url: `${kept.server.url}/services/circle/again`, shards: ALL });
    const { code, message } = failed(await kept.in.get(WIDGETS));
    expect(code).to.equal(500);
    expect(message).to.include("X-Kcp-Virtual-Resource-Hops");
    for (const [hops, answered] of [
      ["2", 200],
      ["3", 500],
      ["4", 500],
      ["-1", 500],
      ["many", 500],
    ] as const) {
      await kept.says({ url: `${kept.server.url}/services/echo`, shards: ALL });
      const headers = { "x-kcp-virtual-resource-hops": hops };
      expect((await kept.in.get(WIDGETS, { ...root, headers })).status, hops).to.equal(answered);
    }
    expect(told.map(({ hops }) => hops)).to.deep.equal([3]);
  });

  it("appears in discovery with the view's verbs, and is omitted with a warning while the view is unavailable", async () => {
    const listed = async (accept = "application/json") => kept.in.get(GROUP, { ...root, headers: { accept } });
    const { body } = await listed();
    expect(body.resources).to.deep.include.members([
      {
        ...{ name: "widgets", singularName: "widget", namespaced: false, kind: "Widget" },
        ...{ verbs: ["get", "list", "watch"], storageVersionHash: body.resources[0].storageVersionHash },
      },
      { name: "widgets/status", singularName: "", namespaced: false, kind: "Widget", verbs: ["get"] },
    ]);
    expect(told.map(({ user, path }) => [user.groups[0], path])).to.deep.equal([
      ["system:masters", `/x/clusters/*${GROUP}`],
    ]);
    const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const all = async () => kept.in.get("/apis", { ...root, headers: { accept: aggregated } });
    expect((await all()).text).to.include('"widgets"');
    await kept.says({ url: `${kept.server.url}/services/nothing`, shards: ALL });
    const away = await listed();
    expect([away.status, away.body.resources]).to.deep.equal([200, []]);
    const warning = '299 - "Some resources are temporarily unavailable: [widgets.example.dev]."';
    expect(away.headers["warning"]).to.equal(warning);
    const rest = await all();
    expect(rest.text).to.include("tenancy.kcp.io").and.not.include('"widgets"');
    expect(rest.headers["warning"]).to.equal(warning);
    const groups = await kept.in.get("/apis");
    expect([groups.headers["warning"], groups.text.includes("example.dev")]).to.deep.equal([undefined, true]);
    expect((await kept.in.get("/openapi/v3/apis/example.dev/v1")).text).to.include("/widgets/{name}/status");
  });

  it("forwards upgraded connections as the caller", async () => {
    const { port } = new URL(kept.server.url);
    const socket = connect(Number(port), "127.0.0.1");
    const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: echo", "", "hello"];
    socket.write([`GET /clusters/${kept.shop}${WIDGETS}/a HTTP/1.1`, ...lines].join("\r\n"));
    let text = "";
    while (!text.endsWith("hello")) text += String((await once(socket, "data"))[0]);
    expect(text).to.include(`alice /x/clusters/${kept.shop}${WIDGETS}/a hello`);
    socket.destroy();
  });

  it("is unavailable once the export no longer names the view, and is never stored elsewhere", async () => {
    const provider = new ClusterClient(kept.server, kept.provider);
    const { body } = await provider.get(EXPORT);
    const put = (resources: object[]) =>
      kept.server.send(`PATCH /clusters/${kept.provider}${EXPORT}`, { spec: { resources } }, { ...root, ...MERGE });
    expect((await put([])).status).to.equal(200);
    expect(failed(await kept.in.send(`POST ${WIDGETS}`, {})).message).to.match(/no longer names the view/);
    expect((await put(body.spec.resources)).status).to.equal(200);
    expect((await kept.in.get(WIDGETS)).status).to.equal(200);
  });

  it("is missing where the feature is disabled", async () => {
    await using off = await Kept.on(
      await startWorkspaces(undefined, { virtualStorage: false, virtualWorkspaces: [echo("echo")] }),
    );
    await off.says({ url: `${off.server.url}/services/echo`, shards: ALL });
    expect((await off.in.get(WIDGETS)).status).to.equal(404);
  });
});
