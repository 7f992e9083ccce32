// Why: small programs cannot afford a client that uses 80 MiB before its first request.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";

const RECORDING = `
  import { registerHooks } from "node:module";
  const modules = [];
  registerHooks({ load: (url, context, next) => (modules.push(url), next(url, context)) });`;

/** Modules that a process loads when it runs this script. */
function loaded(script: string, env: NodeJS.ProcessEnv = {}): string[] {
  const text = `${RECORDING}\n${script}\nconsole.log(JSON.stringify(modules));`;
  const args = ["--conditions=@virtual-workspaces/source", "--input-type=module", "-e", text];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  expect(stderr).to.equal("");
  return JSON.parse(stdout) as string[];
}

const isHeavy = (url: string): boolean => url.includes("/node_modules/@kubernetes/client-node/");

describe("the import of the client", () => {
  it("loads no protobuf model of Kubernetes' kinds, even when a client is created with a server", () => {
    const modules = loaded(`
      const { Client } = await import("@virtual-workspaces/client");
      const client = new Client({ upstream: { url: "http://127.0.0.1:1" }, retries: false });
      await client.discovery().all().catch(() => {});`);
    expect(modules.some((url) => url.includes("/client/src/client.ts"))).to.equal(true);
    expect(modules.filter(isHeavy)).to.deep.equal([]);
  }).timeout(20_000);

  it("loads client-node for no kubeconfig, JSON or YAML", () => {
    using folder = tree({
      yaml: "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: 'http://h'}}]\n",
    });
    const json = {
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k" } }],
      clusters: [{ name: "k", cluster: { server: "http://h" } }],
    };
    writeFileSync(join(folder.path, "json"), JSON.stringify(json));
    const load = `const { loadKubeconfig } = await import("@virtual-workspaces/client"); await loadKubeconfig();`;
    expect(loaded(load, { KUBECONFIG: join(folder.path, "json") }).filter(isHeavy)).to.deep.equal([]);
    expect(loaded(load, { KUBECONFIG: join(folder.path, "yaml") }).filter(isHeavy)).to.deep.equal([]);
  }).timeout(20_000);
});
