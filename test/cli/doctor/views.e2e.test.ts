// `virtual-workspaces doctor` on views in a process of their own, with one wrong flag each: it names the flag.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { needsKubectl } from "../../e2e/support/kubectls.ts";
import { cli } from "../support/dev.ts";
import { Apart, Serve } from "../support/views-of-workspaces.ts";

describe("virtual-workspaces doctor, of views in a process of their own", function () {
  this.timeout(120_000);
  let apart: Apart;

  before(async function () {
    needsKubectl.call(this);
    apart = await Apart.ready();
  });
  after(() => apart?.[Symbol.asyncDispose]());

  /** Starts the views again with other values of flags; `undefined` removes the flag. */
  async function serveWith(changed: Readonly<Record<string, string | undefined>>): Promise<void> {
    let args = [...apart.views.args];
    for (const [flag, value] of Object.entries(changed)) {
      const at = args.indexOf(flag);
      if (at >= 0) args = args.toSpliced(at, 2);
      if (value !== undefined) args.push(flag, value);
    }
    await apart.views[Symbol.asyncDispose]();
    apart.views = await Serve.ready(args);
  }
  const file = (name: string): string => join(apart.folder.path, name);

  /** Returns the first failure with its remedy. */
  async function failure(url: string, flags = ["--kubeconfig", apart.shard.home.kubeconfig]): Promise<string> {
    const { stdout, stderr } = await cli("doctor", url, ...flags);
    const lines = (stdout + stderr).trimEnd().split("\n");
    const at = lines.findIndex((line) => line.startsWith("FAILED"));
    return at === -1 ? "" : lines.slice(at).join("\n");
  }
  const view = (cluster: string): string => `${apart.throughShard.url}/mirror/clusters/${cluster}`;

  it("asks for the name of the logical cluster where a URL has a workspace path", async () => {
    expect(await failure(view("root"))).to.equal("");
    const said = await failure(view("root:team:lab"));
    expect(said).to.include(
      '400: "root:team:lab" is a workspace path: use the name of its logical cluster, spec.cluster of the Workspace',
    );
    expect(said).to.match(
      /^ +use the name of the logical cluster in the URL: in root:team, kubectl get workspace lab -o jsonpath=\{\.spec\.cluster\}$/m,
    );
    expect(said).to.not.include("try again");
    const exported = `${apart.throughShard.url}/apiexport/root/widgets/clusters/root:team:lab`;
    expect(await failure(exported)).to.include("in root:team, kubectl get workspace lab");
  });

  it("examines the workspace too when a view over it denies a user without access to it", async () => {
    const team = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "team" } };
    writeFileSync(file("team.json"), JSON.stringify(team));
    await apart.shard.kubectl("create", "-f", file("team.json"));
    await apart.shard.kubectl("wait", "workspace/team", "--for=jsonpath={.status.phase}=Ready");
    const [, cluster = ""] = (await apart.shard.kubectl("get", "ws/team", "-o", "jsonpath={.spec.cluster}")).split(" ");
    const by = ["--kubeconfig", apart.shard.home.kubeconfig, "--token=bob-token"];
    const without = await failure(view(cluster), by);
    expect(without).to.match(/^FAILED .*User "bob" cannot get path "\/services\/mirror\/clusters\/\w+\/api"/);
    expect(without).to.include("the user has no access to the workspace of this view");
    const [, granting = ""] = /run: kubectl (--server=\S+ create clusterrolebinding .*)$/m.exec(without) ?? [];
    expect(granting).to.include(`/clusters/${cluster} `);
    await apart.shard.kubectl(...granting.split(" "));
    expect(await failure(view(cluster), by)).to.equal("");
  });

  it("asks for the user's own credentials where a server in front does not accept --as", async () => {
    const said = await failure(view("root"), ["--kubeconfig", apart.shard.home.kubeconfig, "--as=bob"]);
    expect(said).to.include("impersonation is not allowed").and.include("use the credentials of that user");
    expect(said).to.not.include("--client-ca-file");
  });

  it("names --client-ca-file when the views do not accept the certificate of the server in front", async () => {
    const remedy = /--client-ca-file .*--shard-client-cert-file.*identity ignored/;
    await serveWith({ "--requestheader-client-ca-file": undefined, "--client-ca-file": undefined });
    expect(await failure(view("root"))).to.match(remedy);
    await apart.views.until(
      "the reason",
      () => /identity ignored .*no authority for one/.exec(apart.views.lines.join("\n")),
      10_000,
    );
    await serveWith({ "--client-ca-file": file("proxies.crt") });
    expect(await failure(view("root"))).to.match(remedy);
    await apart.views.until(
      "the reason",
      () => /identity ignored .*O=system:masters, CN=shard/.exec(apart.views.lines.join("\n")),
      10_000,
    );
    expect(await failure(view("root"))).to.not.include("log in again");
  });

  it("names --requestheader-allowed-names when the views do not accept the name of the front proxy", async () => {
    const keys = apart.proxies.client("front-proxy", []);
    const own = apart.shard.text("admin.kubeconfig").replace("current-context: root", "current-context: shard-base");
    const texts = {
      "front.crt": keys.cert,
      "front.key": keys.key,
      "front.kubeconfig": own,
      "users.csv": "alice-token,alice,1\n",
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(file(name), text);
    const mapping = [
      ["/clusters/", apart.shard.url, apart.shard.path("apiserver.crt")],
      ["/services/", `https://127.0.0.1:${apart.wire.port}`, file("ca.crt")],
    ].map(([path, backend, backend_server_ca]) => ({
      ...{ path, backend, backend_server_ca },
      ...{ proxy_client_cert: file("front.crt"), proxy_client_key: file("front.key") },
    }));
    writeFileSync(file("mapping.yaml"), JSON.stringify(mapping));
    const proxies = {
      "--requestheader-client-ca-file": file("proxies.crt"),
      "--requestheader-allowed-names": "another",
    };
    await serveWith({ "--client-ca-file": file("ca.crt"), ...proxies });
    await using front = await Serve.ready([
      ...["front-proxy", "--mapping-file", file("mapping.yaml"), "--token-auth-file", file("users.csv")],
      ...["--root-kubeconfig", file("front.kubeconfig"), "--shards-kubeconfig", file("front.kubeconfig")],
      ...["--tls-cert-file", file("tls.crt"), "--tls-private-key-file", file("tls.key")],
      ...["--bind-address=127.0.0.1", "--secure-port=0"],
    ]);
    const url = `https://127.0.0.1:${front.port}/services/mirror/clusters/root`;
    const by = ["--kubeconfig=/dev/null", "--token=alice-token", `--certificate-authority=${file("ca.crt")}`];
    expect(await failure(url, by)).to.match(/--requestheader-allowed-names its common name.*identity ignored/);
    await serveWith({ "--requestheader-allowed-names": undefined });
  });

  it("names --client-ca-file when the views ignore a user's certificate", async () => {
    const alice = apart.authority.client("alice", []);
    writeFileSync(file("alice.crt"), alice.cert);
    writeFileSync(file("alice.key"), alice.key);
    const url = `https://127.0.0.1:${apart.wire.port}/services/mirror/clusters/root`;
    const by = [`--client-certificate=${file("alice.crt")}`, `--client-key=${file("alice.key")}`];
    const flags = ["--kubeconfig=/dev/null", ...by, `--certificate-authority=${file("ca.crt")}`];
    await serveWith({ "--client-ca-file": file("proxies.crt"), "--requestheader-allowed-names": "front-proxy" });
    expect(await failure(url, flags)).to.match(/rejects the credentials: 401\n.*--client-ca-file/);
    await serveWith({
      "--client-ca-file": undefined,
      "--requestheader-client-ca-file": undefined,
      "--requestheader-allowed-names": undefined,
    });
    expect(await failure(url, flags)).to.match(/system:anonymous.*\n.*--client-ca-file/);
  });

  it("has nothing to examine with a kubeconfig without system:masters: serve does not start", async () => {
    const { args } = apart.views;
    for (const more of [[], ["--workers=2"]]) {
      const { code, stderr } = await cli(...args.with(args.indexOf("--context") + 1, "root"), ...more);
      expect([code, stderr]).to.deep.equal([
        1,
        "virtual-workspaces serve: --kubeconfig: the user \"kcp-admin\" is not in system:masters, whose rights kcp's own views need: set --context to one of such a user, shard-base in kcp's admin.kubeconfig, or leave these views out with --kcp-views=false\n",
      ]);
    }
  });
});
