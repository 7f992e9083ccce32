// `virtual-workspaces start` with every feature and several shards: its metrics, and workspace paths that do not exist.
import { expect } from "chai";
import { parseExposition } from "../_support/exposition.ts";
import { Start } from "./support/start.ts";

const FLAGS = [
  "--batteries-included=admin,workspace-types,user,spaces,cluster-proxy,mounts,demo",
  "--shards=3",
  "--enable-home-workspaces",
];

/** Ways in which URLs of views name a workspace that does not exist. */
const UNKNOWN = [
  "/clusters/root:none/api",
  "/services/clusterproxy/root:none/nope/api",
  "/services/clusterproxy/root:none/nope/api/v1/pods?watch=true",
  "/services/clusterproxy/root:none/nope",
  "/services/clusterproxy/none/nope/api",
  "/services/clusterproxy/system:none/nope/api",
  "/services/clusterproxy/root:users:nobody:none/nope/clusters/root:none/api",
  "/services/clusterproxy-agents/root:none/nope/api",
  "/services/clusterproxy-agents/root:none/nope/tunnel",
  "/services/mounts/root:none/nope/api",
  "/services/apiexport/root:none/nope/clusters/root:none/api",
  "/services/apiexport/root:none/nope/clusters/*/api",
  "/services/apiresourceschema/root:none/clusters/root:none/api",
  "/services/initializingworkspaces/root:none:nope/clusters/root:none/api",
  "/services/initializingworkspaces/root:nope/clusters/root:none/api",
  "/services/terminatingworkspaces/root:none:nope/clusters/root:none/api",
  "/services/preparingworkspaces/root:none:nope/clusters/root:none/api",
  "/services/workspaces/clusters/root:none/api",
  "/services/cache/shard/root:none/clusters/root:none/api",
  "/services/replication/root:none/nope/clusters/root:none/api",
  "/services/spaces/root:none/nope/api",
  "/services/spaces/all/clusters/root:none/api",
] as const;

describe("virtual-workspaces start with every feature", function () {
  this.timeout(60_000);
  let server: Start;

  before(async () => {
    server = await Start.ready({ flags: FLAGS });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  it("has each metric and each series once at /metrics", async () => {
    const shards = [...server.stderr.matchAll(/shard is serving shard="[^"]+" url="([^"]+)"/g)].map(
      ([, url = ""]) => url,
    );
    expect(shards).to.have.length(2);
    for (const at of [server.url, ...shards]) {
      const { code, body } = await server.get("/metrics", { token: server.token("shard-admin"), at });
      expect(code, body).to.equal(200);
      const families = parseExposition(body);
      expect(families).to.include.keys(
        "apiserver_request_total",
        "apiserver_request_duration_seconds",
        "clusterproxy_tunnel_bytes_total",
        "clusterproxy_tunnels",
        "nodejs_gc_duration_seconds",
        "virtual_workspaces_watch_subscribers",
      );
    }
  });

  it("shows its flags at /flagz and itself at /statusz, to administrators", async () => {
    const lines = async (path: string): Promise<readonly string[]> => {
      const { code, body } = await server.get(path, { token: server.token("shard-admin") });
      expect(code, body).to.equal(200);
      return body.split("\n");
    };
    const flags = await lines("/flagz");
    expect(flags[1]).to.equal("virtual-workspaces-start flagz");
    expect(flags).to.include.members(["anonymous-auth=true", "shutdown-delay-duration=0s", "token-auth-file="]);
    expect(flags).to.include(`root-directory=${server.path("")}`.replace(/\/$/, ""));
    const status = await lines("/statusz");
    expect(status).to.include("Paths: /flagz /livez /metrics /readyz /statusz");
    expect(status.find((line) => line.startsWith("Binary"))).to.match(/^Binary version: \d+\.\d+\.\d+/);
    for (const path of ["/flagz", "/statusz"]) expect((await server.get(path)).code).to.equal(403);
  });

  it("responds to unknown workspaces with 4xx, and logs no error", async () => {
    const administrators = ["kcp-admin", "shard-admin"].map((user) => ({ token: server.token(user) }));
    for (const path of UNKNOWN) {
      const { code, body } = await server.get(path);
      expect(code, `${path}: ${body}`).to.be.oneOf([400, 403, 404]);
      for (const administrator of administrators) {
        const answer = await server.get(path, administrator);
        // Discovery of a view may not depend on the workspace.
        expect(answer.code, `${path}: ${answer.body}`).to.be.oneOf([200, 400, 403, 404]);
      }
    }
    expect(server.stderr).not.to.match(/ (error|warn) /);
  });
});
