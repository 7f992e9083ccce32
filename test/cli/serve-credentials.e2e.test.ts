// `serve` with a credential of one workspace, as kcp-operator gives one: which rights are enough, how callers are authenticated,
// and what happens without.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { until } from "../_support/until.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { cli } from "./support/dev.ts";
import { INVENTORY, Provider } from "./support/provider.ts";
import { type Answer, ask, Serve } from "./support/views-of-workspaces.ts";

const STOCKS = "/services/inventory/apis/inventory.example.dev/v1/stocks";

describe("serve with the credential of one workspace", function () {
  this.timeout(120_000);
  const clients = Authority.root("clients");
  const proxies = Authority.root("proxies");
  const servers = Authority.root("servers");
  let provider: Provider;
  let issuer: TestIssuer;
  let server: Serve;
  let flags: readonly string[];

  before(async function () {
    needsKubectl.call(this);
    provider = await Provider.ready();
    issuer = await TestIssuer.start();
    const file = (name: string, text: string): string => {
      writeFileSync(join(provider.folder.path, name), text);
      return join(provider.folder.path, name);
    };
    const { cert, key } = servers.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });
    flags = [
      ...["--kubeconfig", file("narrow.kubeconfig", provider.kubeconfig)],
      ...["--client-ca-file", file("clients.crt", clients.cert)],
      ...["--tls-cert-file", file("tls.crt", cert), "--tls-private-key-file", file("tls.key", key)],
      ...["--bind-address=127.0.0.1", "--secure-port=0"],
    ];
    server = await Serve.ready([
      ...["serve", "--kcp-views=false", "--view", INVENTORY, ...flags],
      ...["--requestheader-client-ca-file", file("proxies.crt", proxies.cert)],
      ...[`--oidc-issuer-url=${issuer.url}`, "--oidc-client-id=vw", "--oidc-username-claim=sub"],
      ...["--oidc-username-prefix=-", "--oidc-ca-file", file("issuer.crt", issuer.authority.cert)],
    ]);
    await until(async () => (await get("/readyz/inventory")).code === 200, { what: "ready" });
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await issuer?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  const get = (path: string, options: Parameters<typeof ask>[1] = {}): Promise<Answer> =>
    ask(`https://127.0.0.1:${server.port}${path}`, { ca: servers.cert, ...options });
  const byToken = (token: string): Promise<Answer> => get(STOCKS, { headers: { authorization: `Bearer ${token}` } });
  const proxy = () => proxies.issue({ name: "front-proxy" });

  it("serves its views alone, with the objects of all workspaces that have bound the export", async () => {
    expect((await get("/readyz?verbose")).body).to.equal(
      "[+]shutdown ok\n[+]inventory ok\n[+]fallback ok\n[+]root ok\nreadyz check passed\n",
    );
    const { code, body } = await until(
      async () => {
        const answer = await get(STOCKS, { ...proxy(), headers: { "x-remote-user": "alice" } });
        return answer.body.includes("bolt") ? answer : undefined;
      },
      { what: "the item" },
    );
    expect(code).to.equal(200);
    const specs = JSON.parse(body).items.map(({ spec }: { readonly spec: object }) => spec);
    expect(specs).to.deep.equal([{ count: 7, workspace: provider.consumer }]);
  });

  it("authorizes callers by the provider's workspace, however they are authenticated", async () => {
    expect((await byToken("alice-token")).code).to.equal(200);
    expect((await byToken("bob-token")).code).to.equal(403);
    expect((await byToken("nobody-token")).code).to.equal(401);
    expect((await byToken(issuer.token({ sub: "alice" }))).code).to.equal(200);
    expect((await byToken(issuer.token({ sub: "bob" }))).code).to.equal(403);
    expect((await byToken(issuer.token({ sub: "alice", aud: "another" }))).code).to.equal(401);
    expect((await get(STOCKS, clients.issue({ name: "alice" }))).code).to.equal(200);
    expect((await get(STOCKS, { ...proxy(), headers: { "x-remote-user": "bob" } })).code).to.equal(403);
    expect((await get(STOCKS)).code).to.equal(403);
  });

  it("asks the provider's workspace about impersonation", async () => {
    const headers = { authorization: "Bearer bob-token", "impersonate-user": "alice" };
    expect((await get(STOCKS, { headers })).code).to.equal(403);
  });

  it("rejects a header of a proxy beside the certificate of a user with 400, also of an administrator", async () => {
    for (const pair of [
      clients.issue({ name: "alice" }),
      clients.issue({ name: "shard", organizations: ["system:masters"] }),
    ]) {
      const { code, body } = await get(STOCKS, { ...pair, headers: { "x-remote-user": "bob" } });
      expect(code).to.equal(400);
      expect(JSON.parse(body).message).to.match(
        /^x-remote-user names a user, and the client certificate is not that of an/,
      );
    }
  });

  it("answers 404 with a remedy for kcp's own views", async () => {
    const { code, body } = await get("/services/apiexport/a/b/clusters/*/api", {
      ...proxy(),
      headers: { "x-remote-user": "alice" },
    });
    expect([code, JSON.parse(body).message]).to.deep.equal([
      404,
      "the view apiexport of kcp is not served here: set --fallback-url to a server that has it",
    ]);
  });

  it("does not start with kcp's own views, and names the flag that leaves them out", async () => {
    const { code, stderr } = await cli("serve", ...flags);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      "virtual-workspaces serve: --kubeconfig: the user \"inventory-server\" is not in system:masters, whose rights kcp's own views need: set --context to one of such a user, shard-base in kcp's admin.kubeconfig, or leave these views out with --kcp-views=false\n",
    );
  });

  it("needs no more than the rights that manifests --rbac prints", async () => {
    const { stdout } = await cli("manifests", "--rbac", "--user=inventory-server", INVENTORY);
    const [role, binding] = parseAllDocuments(stdout).map((document) => document.toJS());
    expect(binding.subjects).to.deep.equal([
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "inventory-server" },
    ]);
    const path = "/clusters/root:provider/apis/rbac.authorization.k8s.io/v1/clusterroles/virtual-workspaces-serve";
    expect(JSON.parse((await provider.shard.get(path, { token: "root-token" })).body).rules).to.deep.equal(role.rules);
    const at = ["--context", "base", "-s", `${provider.shard.url}/clusters/root:provider`, "--token=root-token"];
    const who = ["--as=inventory-server", "--as-group=system:authenticated"];
    const can = (...question: readonly string[]): Promise<string> =>
      provider.shard.kubectl(...at, ...who, "auth", "can-i", ...question);
    for (const question of [
      ["create", "tokenreviews.authentication.k8s.io"],
      ["create", "subjectaccessreviews.authorization.k8s.io"],
      ["watch", "apiexportendpointslices.apis.kcp.io"],
      ["list", "apiexports.apis.kcp.io/inventory", "--subresource=content"],
    ])
      expect(await can(...question), question.join(" ")).to.match(/^0 yes/);
    for (const question of [
      ["list", "secrets"],
      ["list", "configmaps"],
      ["list", "apiexports.apis.kcp.io"],
      ["create", "apiexports.apis.kcp.io/inventory", "--subresource=content"],
      ["impersonate", "users"],
    ])
      expect(await can(...question), question.join(" ")).to.match(/^1 no/);
  });
});
