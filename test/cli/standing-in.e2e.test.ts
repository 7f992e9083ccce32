// Started with the flags of kcp's own `virtual-workspaces` and nothing else, behind a server of two shards: who has access
// through the shard, at the published URL, and through a front proxy, and who does not.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { KeyPair } from "../_support/certificates.ts";
import { createAuthority } from "../_support/server.ts";
import { until } from "../_support/until.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { bindWidgets, type Exported, exportWidgets } from "./support/exported.ts";
import { type Answer, Apart, ask, type Place } from "./support/views-of-workspaces.ts";

const WIDGETS = "apis/example.dev/v1/widgets";

describe("virtual-workspaces in place of kcp's own", function () {
  this.timeout(120_000);
  let apart: Apart;
  let exported: Exported;

  before(async function () {
    needsKubectl.call(this);
    apart = await Apart.ready({
      asKcp: true,
      byShard: true,
      shardFlags: ["--shards=2"],
      flags: [
        ...["--authentication-skip-lookup", "--requestheader-allowed-names=front-proxy", "--profiler-address=x:1"],
        ...["--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group"],
        ...["--requestheader-extra-headers-prefix=X-Remote-Extra-", "-v=2"],
      ],
    });
    // Workspaces of that shard are initialized through it.
    await apart.serveShard("shard-1");
    exported = await exportWidgets(apart.shard, { provider: "shard-1", consumer: "root" });
  });

  after(() => apart?.[Symbol.asyncDispose]());

  /** Sends a request to the process itself, at the published URL. */
  async function directly(path: string, options: Omit<Parameters<typeof ask>[1], "ca"> = {}): Promise<Answer> {
    const { url, ca } = await apart.published();
    return ask(`${url}/${path}`, { ca, ...options });
  }

  const byMaster = { token: "root-token" };
  const masters = { authorization: "Bearer root-token" };
  const wildcard = (): string => `${exported.path}/*/${WIDGETS}`;
  const front = (): KeyPair => apart.proxies.client("front-proxy", []);

  it("lets kubectl read and write an export of another shard through the shard", async () => {
    const at = (cluster: string): string[] => [
      ...["--context", "shard-base", "-s", `${apart.throughShard.url}/${exported.path}/${cluster}`],
    ];
    expect(await apart.shard.kubectl(...at("*"), "get", "widgets", "-o", "name")).to.equal("0 widget.example.dev/cog");
    const patch = ["patch", "widget", "cog", "--type=merge", "-p", '{"spec":{"size":2}}'];
    expect(await apart.shard.kubectl(...at(exported.consumer), ...patch)).to.equal("0 widget.example.dev/cog patched");
  });

  it("lets kubectl read the same at the published URL, with a token and with a certificate", async () => {
    const slices = "/clusters/root:provider/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/widgets";
    const { body } = await apart.shard.get(slices, { token: "root-token" });
    const url = `${(await apart.published()).url}/apiexport/${exported.provider}/widgets`;
    expect(JSON.parse(body).status.endpoints[0]).to.deep.equal({ url });
    const own = ["--kubeconfig=/dev/null", `--certificate-authority=${apart.folder.path}/ca.crt`];
    const { host, hostname } = new URL(url);
    const server = `${url.replace(host, `127.0.0.1:${apart.names?.port}`)}/clusters/*`;
    const at = [...own, "-s", server, "--tls-server-name", hostname, "get", "widgets", "-o", "name"];
    expect(await apart.shard.kubectl("--token=root-token", ...at)).to.equal("0 widget.example.dev/cog");
    const certificate = ["crt", "key"].map(
      (end, of) => `--client-${["certificate", "key"][of]}=${apart.folder.path}/shard.${end}`,
    );
    expect(await apart.shard.kubectl(...certificate, ...at)).to.equal("0 widget.example.dev/cog");
  });

  it("has views for each shard, which serve its objects through the shard and at the published URL", async () => {
    await bindWidgets(apart.shard, { shard: "shard-1", name: "far", widget: "gear" });
    const widgetsOf = async ({ url, ca }: Place): Promise<readonly string[]> => {
      const { code, body } = await ask(`${url}/${wildcard()}`, { ca, headers: masters });
      expect(code, body).to.equal(200);
      return JSON.parse(body).items.map((widget: { metadata: { name: string } }) => widget.metadata.name);
    };
    for (const [shard, widgets] of [
      ["root", ["cog"]],
      ["shard-1", ["gear"]],
    ] as const)
      for (const place of [await apart.through(shard), await apart.published(shard)])
        await until(async () => String(await widgetsOf(place)) === String(widgets), {
          what: `${widgets} at ${place.url}`,
        });
    const slices = "/clusters/root:provider/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/widgets";
    const endpoints = await until(
      async () => {
        const found = JSON.parse((await apart.shard.get(slices, { token: "root-token" })).body).status.endpoints;
        return found.length === 2 && (found as readonly { readonly url: string }[]);
      },
      { what: "two endpoints" },
    );
    expect(endpoints.map(({ url }) => new URL(url).hostname)).to.have.members([
      "root.views.test",
      "shard-1.views.test",
    ]);
  });

  it("serves views of a shard that is created with a name", async () => {
    const metadata = { name: "amber", annotations: { "virtual-workspaces.io/in-process": "true" } };
    const object = { apiVersion: "core.kcp.io/v1alpha1", kind: "Shard", metadata };
    expect((await apart.shard.create("/clusters/root/apis/core.kcp.io/v1alpha1/shards", object)).code).to.equal(201);
    expect(await apart.shard.kubectl("wait", "--for=condition=Ready", "shard/amber")).to.match(/^0 /);
    const { url, ca } = await apart.through("amber");
    expect((await ask(`${url}/${wildcard()}`, { ca, headers: masters })).code).to.equal(503);
    expect(apart.names?.asked).to.include("amber");
  });

  it("accepts the user that a front proxy names, and applies that user's rights", async () => {
    const asked = async (user: string, groups: readonly string[]): Promise<number> => {
      const headers = { "x-remote-user": user, "x-remote-group": [...groups] };
      return (await directly(wildcard(), { ...front(), headers })).code;
    };
    expect(await asked("boss", ["system:kcp:admin", "system:authenticated"])).to.equal(200);
    expect(await asked("carol", ["system:authenticated"])).to.equal(403);
  });

  const FORGED = { "x-remote-user": "root", "x-remote-group": "system:masters", "x-remote-extra-scopes": "a" };

  it("accepts identity headers only with the certificate and the name of a front proxy", async () => {
    expect((await directly(wildcard(), { headers: FORGED })).code).to.equal(403);
    for (const [pair, code] of [
      [apart.authority.client("front-proxy", []), 400],
      [apart.authority.client("shard", ["system:masters"]), 400],
      [apart.proxies.client("somebody", []), 401],
    ] as const)
      expect((await directly(wildcard(), { ...pair, headers: FORGED })).code).to.equal(code);
    expect((await directly(wildcard(), { headers: { ...FORGED, authorization: "Bearer bob-token" } })).code).to.equal(
      403,
    );
  });

  it("rejects certificates of another authority, and expired ones", async () => {
    const stale = apart.authority.client("shard", ["system:masters"], { from: -2, to: -1 });
    for (const pair of [createAuthority().client("shard", ["system:masters"]), stale])
      expect((await directly(wildcard(), pair)).code).to.equal(401);
    expect((await directly(wildcard(), apart.authority.client("shard", ["system:masters"]))).code).to.equal(200);
  });

  it("lets only the shard's certificate impersonate any user", async () => {
    const as = (user: string, group: string) => ({
      "impersonate-user": user,
      "impersonate-uid": "7",
      "impersonate-group": group,
    });
    const shard = apart.authority.client("shard", ["system:masters"]);
    expect((await directly(wildcard(), { ...shard, headers: as("boss", "system:kcp:admin") })).code).to.equal(200);
    expect((await directly(wildcard(), { ...shard, headers: as("carol", "staff") })).code).to.equal(403);
    for (const [pair, named] of [
      [apart.authority.client("somebody", ["system:kcp:admin"]), {}],
      [front(), { "x-remote-user": "carol" }],
    ] as const) {
      const { code, body } = await directly(wildcard(), {
        ...pair,
        headers: { ...as("root", "system:masters"), ...named },
      });
      expect([code, JSON.parse(body).kind]).to.deep.equal([403, "Status"]);
    }
  });

  it("answers probes by the names of views to all users, and metrics to masters alone", async () => {
    const { url, ca } = await apart.published();
    const at = async (path: string, headers = {}): Promise<Answer> =>
      ask(url.replace(/\/services$/, path), { ca, headers });
    expect(await at("/livez")).to.deep.equal({ code: 200, body: "ok" });
    expect(await at("/readyz/apiexport")).to.deep.equal({ code: 200, body: "ok" });
    expect((await at("/readyz?verbose")).body).to.include("[+]apiexport ok\n");
    expect(await at("/healthz")).to.deep.equal({ code: 200, body: "ok" });
    for (const path of ["/version", "/", "/api", "/apis/example.dev"])
      expect((await at(path)).code, path).to.equal(403);
    expect(JSON.parse((await at("/version", masters)).body)).to.include.keys("gitVersion");
    for (const page of ["/statusz", "/flagz"]) {
      expect((await at(page)).code).to.equal(403);
      expect((await at(page, masters)).body).to.match(/^\nvirtual-workspaces-serve (status|flag)z\nWarning: /);
    }
    expect((await at("/metrics")).code).to.equal(403);
    expect((await at("/metrics", { authorization: "Bearer bob-token" })).code).to.equal(403);
    expect((await at("/metrics", masters)).body).to.include("apiserver_request_total");
  });

  it("answers with a remedy for kcp's other views, and says of unknown names only that no view has them", async () => {
    for (const view of ["replication", "migratingworkspaces"]) {
      const { code, body } = await directly(`${view}/a/b/clusters/c/api`, { headers: masters });
      expect(code).to.equal(404);
      expect(JSON.parse(body)).to.include({
        ...{ kind: "Status", reason: "NotFound" },
        message: `the view ${view} of kcp is not served here: set --fallback-url to a server that has it`,
      });
    }
    const { code, body } = await directly("nothing/a", { headers: masters });
    expect([code, JSON.parse(body).message]).to.deep.equal([404, "the server could not find the requested resource"]);
    for (const path of ["nothing/a", "apiexport/a", "apiexport/a/b/cluster/c/api"]) {
      expect((await directly(path, { headers: masters })).code, path).to.equal(404);
      const denied = await directly(path, { headers: { authorization: "Bearer bob-token" } });
      expect(denied.code, path).to.equal(403);
      const missing = path === "nothing/a" ? ": there is no virtual workspace at /services/nothing" : "";
      expect(JSON.parse(denied.body).message).to.match(new RegExp(`: access denied${missing}$`));
    }
  });

  it("initializes workspaces: they wait while it is down, and continue when it is back", async () => {
    const workspaces = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "later" } };
    const file = join(apart.folder.path, "later.json");
    const location = { selector: { matchLabels: { name: "root" } } };
    writeFileSync(file, JSON.stringify({ ...about, spec: { type: { name: "universal", path: "root" }, location } }));
    await apart.views[Symbol.asyncDispose]();
    expect(await apart.shard.kubectl("create", "-f", file)).to.equal("0 workspace.tenancy.kcp.io/later created");
    const status = async () => JSON.parse((await apart.shard.get(`${workspaces}/later`, byMaster)).body).status ?? {};
    await until(async () => (await status()).initializers?.join() === "system:apibindings", { what: "waiting" });
    const { cluster } = JSON.parse((await apart.shard.get(`${workspaces}/later`, byMaster)).body).spec;
    const bindings = `/clusters/${cluster}/apis/apis.kcp.io/v1alpha2/apibindings`;
    const bound = async (): Promise<number> =>
      JSON.parse((await apart.shard.get(bindings, byMaster)).body).items.length;
    expect(await bound()).to.equal(0);
    await apart.serveAgain();
    await until(async () => (await status()).phase === "Ready", { what: "Ready" });
    expect(await bound()).to.be.greaterThan(1);
  });
});
