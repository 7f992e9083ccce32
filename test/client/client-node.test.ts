// Why: decision 16 keeps our own kubeconfig reader for what @kubernetes/client-node does not support. If an assertion about
// that package fails, it has changed: review the decision.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { loadKubeconfig } from "@virtual-workspaces/client";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";

const VERSION = "client.authentication.k8s.io/v1";

interface Applied {
  readonly headers?: Readonly<Record<string, string>>;
  readonly ca?: unknown;
}

describe("a kubeconfig read by @kubernetes/client-node and by us", () => {
  let folder: Tree;
  beforeEach(() => {
    folder = tree({ token: "from-file\n" });
  });
  afterEach(() => folder[Symbol.dispose]());

  function write(user: object, { name = "config", context = { user: "u" } as object, cluster = {} } = {}): string {
    const config = {
      "current-context": "c",
      clusters: [{ name: "k", cluster: { server: "https://h", ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "c", context: { cluster: "k", ...context } }],
    };
    writeFileSync(join(folder.path, name), JSON.stringify(config));
    return join(folder.path, name);
  }

  function loaded(file: string): KubeConfig {
    const config = new KubeConfig();
    config.loadFromFile(file);
    return config;
  }

  async function applied(config: KubeConfig): Promise<Applied> {
    const options = {};
    await config.applyToHTTPSOptions(options);
    return options;
  }

  const ours = async (file: string): Promise<unknown> =>
    (await (await loadKubeconfig({ file })).upstream.credentials?.get())?.headers?.[1];

  function plugin(script: string): { exec: object } {
    const path = join(folder.path, "plugin");
    const printed = `{"kind":"ExecCredential","apiVersion":"${VERSION}","status":{"token":"t"}}`;
    writeFileSync(path, `#!/bin/sh\n${script}\nprintf '${printed}'\n`);
    chmodSync(path, 0o755);
    return { exec: { apiVersion: VERSION, command: path, interactiveMode: "Never" } };
  }

  it("impersonates without groups in client-node, and with all of them here", async () => {
    const file = write({ token: "t", as: "ann", "as-groups": ["g"] });
    const { headers } = await applied(loaded(file));
    expect(headers).to.deep.equal({ Authorization: "Bearer t", "Impersonate-User": "ann" });
    expect((await loadKubeconfig({ file })).impersonate).to.deep.equal({ name: "ann", groups: ["g"] });
  });

  it("is anonymous in client-node if the token is in a file", async () => {
    const file = write({ tokenFile: "token" });
    expect((await applied(loaded(file))).headers).to.deep.equal({});
    expect(await ours(file)).to.equal("Bearer from-file");
  });

  it("loses its authorities in client-node without a user", async () => {
    const pem = "-----BEGIN CERTIFICATE-----\n";
    const cluster = { "certificate-authority-data": Buffer.from(pem).toString("base64") };
    const file = write({}, { context: {}, cluster });
    expect((await applied(loaded(file))).ca).to.equal(undefined);
    expect((await loadKubeconfig({ file })).upstream.tls).to.deep.equal({ ca: pem });
  });

  it("cannot be merged in client-node with one of the same names", async () => {
    const files = [write({ token: "one" }), write({ token: "two" }, { name: "other" })] as const;
    const [first, second] = files.map(loaded) as [KubeConfig, KubeConfig];
    expect(() => first.mergeConfig(second)).to.throw("Duplicate cluster: k");
    const { upstream } = await loadKubeconfig({ env: { KUBECONFIG: files.join(":") } });
    expect((await upstream.credentials?.get())?.headers?.[1]).to.equal("Bearer one");
  });

  it("passes nothing to its plugin in client-node, runs it for each caller, and keeps its result", async () => {
    const file = write(plugin(`echo run $KUBERNETES_EXEC_INFO >>"${folder.path}/runs"`));
    const runs = (): string[] => readFileSync(join(folder.path, "runs"), "utf8").trim().split("\n");
    const theirs = loaded(file);
    await Promise.all([applied(theirs), applied(theirs), applied(theirs)]);
    expect(runs()).to.deep.equal(["run", "run", "run"]);
    const { credentials } = (await loadKubeconfig({ file })).upstream;
    const [one] = await Promise.all([credentials?.get(), credentials?.get(), credentials?.get()]);
    expect(runs()).to.have.length(4);
    expect(runs()[3]).to.match(/^run \{"kind":"ExecCredential"/);
    await applied(theirs);
    expect(runs(), "nothing tells them that it was refused").to.have.length(4);
    if (one !== undefined) credentials?.refused?.(one);
    await credentials?.get();
    expect(runs()).to.have.length(5);
  });
});
