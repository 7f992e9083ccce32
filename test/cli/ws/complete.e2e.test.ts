// kubectl requests completions, as for the Tab key: `kubectl __complete ws …`.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { CHILD_ENV } from "../../_support/child-env.ts";
import { kubectls, needsKubectl } from "../../e2e/support/kubectls.ts";
import { Start } from "../support/start.ts";

const run = promisify(execFile);

describe("completion of kubectl ws by kubectl", function () {
  this.timeout(60_000);
  let server: Start;

  before(async function () {
    needsKubectl.call(this);
    server = await Start.ready({ root: ".kcp", flags: ["--batteries-included=+mounts"] });
    for (const name of ["shop", "shed", "lab"]) await ws("create", name);
    await ws("create", "kitchen", "-w", "shop");
  });
  after(() => server?.[Symbol.asyncDispose]());

  const env = (): NodeJS.ProcessEnv => ({
    ...CHILD_ENV,
    PATH: `${join(server.folder.path, ".kcp/bin")}:${process.env["PATH"]}`,
    HOME: server.folder.path,
    KUBECONFIG: server.home.kubeconfig,
  });

  async function ws(...args: readonly string[]): Promise<void> {
    await run(kubectls()[0] ?? "", ["ws", ...args], { env: env() });
  }

  /** Returns kubectl's completions of the last word, and the directive for the shell. */
  async function complete(...words: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await run(kubectls()[0] ?? "", ["__complete", "ws", ...words], { env: env() });
    return stdout.trim().split("\n");
  }

  it("offers commands, and workspaces of the current one", async () => {
    const offered = await complete("");
    expect(offered).to.include.members(["use", "tree", "create", "shop", "shed", "lab", "..", "-", "~"]);
    expect(await complete("sh")).to.deep.equal(["shed", "shop", ":6"]);
    expect(await complete("use", "la")).to.deep.equal(["lab", ":6"]);
    expect(await complete("help", "cr")).to.deep.equal(["create", "create-context", ":4"]);
  });

  it("offers workspaces below a path, relative and absolute", async () => {
    expect(await complete("shop:")).to.deep.equal(["shop:kitchen", ":6"]);
    expect(await complete("use", "shop/k")).to.deep.equal(["shop/kitchen", ":6"]);
    expect(await complete("use", ":root:s")).to.deep.equal([":root:shed", ":root:shop", ":6"]);
    expect(await complete(":")).to.deep.equal([":root", ":6"]);
  });

  it("offers flags, contexts, formats and workspaces as values of flags", async () => {
    expect(await complete("create", "--loc")).to.deep.equal(["--location-selector", ":4"]);
    expect(await complete("tree", "--context", "shard")).to.deep.equal(["shard-base", ":4"]);
    expect(await complete("tree", "--context=sys")).to.deep.equal(["--context=system:admin", ":4"]);
    expect(await complete("get", "configmaps", "-o", "y")).to.deep.equal(["yaml", ":4"]);
    expect(await complete("tree", "-w", "la")).to.deep.equal(["lab", ":6"]);
  });

  it("offers Mounts to --mount once the workspace has the kind", async () => {
    expect(await complete("create", "far", "--mount", "")).to.deep.equal([":4"]);
    const binding = `{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIBinding","metadata":{"name":"mounts"},"spec":{"reference":{"export":{"path":"root","name":"proxy.kcp.io"}}}}`;
    await apply(binding);
    await run(kubectls()[0] ?? "", ["wait", "apibinding/mounts", "--for=jsonpath={.status.phase}=Bound"], {
      env: env(),
    });
    await apply(
      `{"apiVersion":"proxy.kcp.io/v1alpha1","kind":"Mount","metadata":{"name":"to-lab"},"spec":{"type":"Workspace","path":"root:lab"}}`,
    );
    expect(await complete("create", "far", "--mount", "")).to.deep.equal(["Mount/to-lab", ":4"]);
  });

  it("offers nothing without a message when the server is unavailable or rejects the token", async () => {
    expect(await complete("--server=https://127.0.0.1:1", "use", "sh")).to.deep.equal([":4"]);
    expect(await complete("--token=wrong", "use", "sh")).to.deep.equal([":4"]);
  });

  function apply(object: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = execFile(kubectls()[0] ?? "", ["create", "-f", "-"], { env: env() }, (error) =>
        error === null ? resolve() : reject(error),
      );
      child.stdin?.end(object);
    });
  }
});
