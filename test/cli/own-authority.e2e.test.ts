// `virtual-workspaces start` with a certificate of an authority of the operator, without that authority in the file: its
// admin.kubeconfig then holds only the server's own certificate, which kubectl accepts, and so do all other commands.
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { kubectls } from "../e2e/support/kubectls.ts";
import { cli } from "./support/dev.ts";
import { Start } from "./support/start.ts";
import { MIRROR, Serve } from "./support/views-of-workspaces.ts";

describe("a serving certificate without its authority", function () {
  this.timeout(120_000);
  const authority = createAuthority();
  const { cert, key } = authority.server;
  const files = tree({
    "tls.crt": new X509Certificate(cert).toString(),
    "tls.key": key,
    "clients.crt": authority.ca,
    "mapping.yaml": "[]\n",
  });
  const file = (name: string): string => join(files.path, name);
  const pair = [`--tls-cert-file=${file("tls.crt")}`, `--tls-private-key-file=${file("tls.key")}`];
  const anywhere = ["--bind-address=127.0.0.1", "--secure-port=0"];
  let server: Start;

  before(async () => {
    server = await Start.ready({ flags: pair });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    files[Symbol.dispose]();
  });

  it("is accepted by kubectl", async function () {
    if (kubectls().length === 0) this.skip();
    expect(await server.kubectl("--context", "base", "get", "--raw", "/readyz")).to.equal("0 ok");
  });

  it("is accepted by doctor and conformance", async () => {
    const { kubeconfig } = server.home;
    const examined = await cli("doctor", "--kubeconfig", kubeconfig);
    expect(examined.code, examined.stdout + examined.stderr).to.equal(0);
    writeFileSync(file("token"), server.token("kcp-admin"));
    const given = [
      "--certificate-authority",
      file("tls.crt"),
      "--token-file",
      file("token"),
      "--resource",
      "configmaps",
    ];
    const checked = await cli("conformance", `${server.url}/clusters/root`, ...given);
    expect(checked.stdout + checked.stderr).to.match(/✓ W1 headers of a watch are sent immediately/);
  });

  it("is accepted by serve and front-proxy", async () => {
    const admin = server.home.kubeconfig;
    const views = ["serve", "--view", MIRROR, "--kubeconfig", admin, "--context", "shard-base"];
    await using serving = await Serve.ready([
      ...views,
      ...pair,
      `--client-ca-file=${file("clients.crt")}`,
      ...anywhere,
    ]);
    const kubeconfigs = [`--root-kubeconfig=${admin}`, `--shards-kubeconfig=${admin}`];
    const mapping = `--mapping-file=${file("mapping.yaml")}`;
    await using proxy = await Serve.ready(["front-proxy", mapping, ...kubeconfigs, ...pair, ...anywhere]);
    for (const { stderr } of [serving, proxy]) expect(stderr).to.not.include("unable to verify");
  });
});
