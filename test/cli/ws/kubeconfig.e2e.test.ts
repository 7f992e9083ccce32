// `kubectl ws` writes kubeconfigs: other entries stay unchanged, and nothing is lost.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { Kubeconfig } from "../../../packages/cli/src/kubectl/kubeconfig.ts";
import { goBack, goTo, writeContext } from "../../../packages/cli/src/ws/session/contexts.ts";
import { type Tree, tree } from "../../_setup/tree.ts";
import { CHILD_ENV } from "../../_support/child-env.ts";
import { needsKubectl } from "../../e2e/support/kubectls.ts";

const CONFIG = `# mine
apiVersion: v1
kind: Config
current-context: dev
preferences: {}
clusters:
- name: k # the cluster
  cluster:
    certificate-authority: pki/ca.crt
    server: https://h:6443/clusters/root:org
    extensions:
    - name: a
      extension: { b: "yes" }
contexts:
- name: dev
  context: { cluster: k, user: ann, namespace: sea }
users:
- name: ann
  user:
    token: secret
`;

describe("kubectl ws writes a kubeconfig", () => {
  let folder: Tree;
  let file: string;
  const env = process.env["KUBECONFIG"];
  beforeEach(() => {
    folder = tree({ config: CONFIG });
    file = join(folder.path, "config");
  });
  afterEach(() => {
    folder[Symbol.dispose]();
    if (env === undefined) delete process.env["KUBECONFIG"];
    else process.env["KUBECONFIG"] = env;
  });
  before(needsKubectl);

  /** Reads the kubeconfig with kubectl. */
  function seen(template: string, files = file): string {
    const args = ["config", "view", "--raw", "-o", `jsonpath=${template}`];
    return execFileSync("kubectl", args, {
      env: { ...CHILD_ENV, KUBECONFIG: files, HOME: folder.path },
    }).toString();
  }
  const server = (name: string): string => `{.clusters[?(@.name=="${name}")].cluster.server}`;
  const context = (name: string): string => `{.contexts[?(@.name=="${name}")].context}`;

  it("with the ClusterProxy that replaces a workspace, and without it afterwards", async () => {
    const through = "https://h:6443/services/clusterproxy/root:other/shop";
    expect(await goTo(Kubeconfig.read(file, undefined), { path: "root:other", proxy: "shop" })).to.equal(through);
    expect(seen(server("workspace.kcp.io/current"))).to.equal(through);
    expect(await goTo(Kubeconfig.read(file, undefined), "root")).to.equal("https://h:6443/clusters/root");
    expect(await goBack(Kubeconfig.read(file, undefined))).to.equal(through);
  });

  it("with the workspace, the previous one, and everything else unchanged", async () => {
    expect(await goTo(Kubeconfig.read(file, undefined), "root:other")).to.equal("https://h:6443/clusters/root:other");
    expect(seen("{.current-context}")).to.equal("workspace.kcp.io/current");
    expect(seen(server("workspace.kcp.io/current"))).to.equal("https://h:6443/clusters/root:other");
    expect(seen(context("workspace.kcp.io/current"))).to.equal(
      '{"cluster":"workspace.kcp.io/current","namespace":"sea","user":"ann"}',
    );
    expect(seen(context("workspace.kcp.io/previous"))).to.equal('{"cluster":"k","namespace":"sea","user":"ann"}');
    const text = readFileSync(file, "utf8");
    const before = CONFIG.replace("current-context: dev", "current-context: workspace.kcp.io/current");
    for (const line of before.split("\n")) expect(text.split("\n"), line).to.include(line);
    expect(readFileSync(`${file}.before-ws`, "utf8")).to.equal(CONFIG);
    expect(readdirSync(folder.path).sort()).to.deep.equal(["config", "config.before-ws"]);
  });

  it("back and forth, also with contexts of its own", async () => {
    await goTo(Kubeconfig.read(file, undefined), "root:a");
    await goTo(Kubeconfig.read(file, undefined), "root:b");
    expect(await goBack(Kubeconfig.read(file, undefined))).to.equal("https://h:6443/clusters/root:a");
    expect(await goBack(Kubeconfig.read(file, undefined))).to.equal("https://h:6443/clusters/root:b");
    const first = Kubeconfig.read(file, "dev");
    await goTo(first, "root:c");
    expect(await goBack(Kubeconfig.read(file, undefined)), "back to the context that was used").to.equal(
      "https://h:6443/clusters/root:org",
    );
  });

  it("with named contexts, which it overwrites only with the flag", async () => {
    const read = (): Kubeconfig => Kubeconfig.read(file, undefined);
    const asked = { name: "mine", path: "root:a", overwrite: false, enter: false };
    expect(await writeContext(read(), asked)).to.equal('Created context "mine".');
    expect([seen("{.current-context}"), seen(server("mine"))]).to.deep.equal(["dev", "https://h:6443/clusters/root:a"]);
    const again = await writeContext(read(), asked).catch(({ message }) => message);
    expect(again).to.equal('context "mine" already exists in kubeconfig, use --overwrite to update it');
    const entered = { name: "mine", path: "root:b", overwrite: true, enter: true };
    expect(await writeContext(read(), entered)).to.equal('Updated context "mine" and switched to it.');
    expect(await writeContext(read(), entered)).to.equal('Updated context "mine".');
    expect(await writeContext(read(), { name: "yes", overwrite: false, enter: true })).to.equal(
      'Created context "yes" and switched to it.',
    );
    expect([seen("{.current-context}"), seen(server("yes"))]).to.deep.equal(["yes", "https://h:6443/clusters/root:b"]);
  });

  it("in the file of several that has the entry, with paths that stay valid", async () => {
    const second = join(folder.path, "more", "config");
    mkdirSync(dirname(second));
    writeFileSync(
      second,
      CONFIG.replace("# mine", "# theirs")
        .replaceAll("root:org", "root:far")
        .replace("dev", "far")
        .replace("name: dev", "name: far")
        .replace("name: k ", "name: l ")
        .replace("cluster: k,", "cluster: l,"),
    );
    const files = `${file}:${second}:${join(folder.path, "none")}`;
    process.env["KUBECONFIG"] = files;
    await goTo(Kubeconfig.read(undefined, "far"), "root:new");
    expect(seen("{.current-context}", files)).to.equal("workspace.kcp.io/current");
    expect(seen(server("workspace.kcp.io/current"), files)).to.equal("https://h:6443/clusters/root:new");
    expect(readFileSync(file, "utf8"), "the first says which").to.include("current-context: workspace.kcp.io/current");
    expect(readFileSync(second, "utf8"), "beside what it was made from").to.include("https://h:6443/clusters/root:new");
    // From now on the second file has an entry, which one in the first would hide.
    await goTo(Kubeconfig.read(undefined, "dev"), "root:own");
    expect(seen(server("workspace.kcp.io/current"), files)).to.equal("https://h:6443/clusters/root:own");
    const authority = '{.clusters[?(@.name=="workspace.kcp.io/current")].cluster.certificate-authority}';
    expect(seen(authority, files)).to.equal(join(folder.path, "pki/ca.crt"));
    expect(readFileSync(file, "utf8")).to.not.include("root:own");
  });

  it("through a symbolic link, with unchanged permissions", async () => {
    const link = join(folder.path, "link");
    symlinkSync(file, link);
    writeFileSync(file, CONFIG, { mode: 0o600 });
    const mode = statSync(file).mode;
    await goTo(Kubeconfig.read(link, undefined), "root:a");
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
    expect([statSync(file).mode, statSync(`${file}.before-ws`).mode]).to.deep.equal([mode, mode]);
    expect(readFileSync(file, "utf8")).to.include("clusters/root:a");
  });

  it("unless another program has written it, or is writing it", async () => {
    const failed = (config: Kubeconfig): Promise<string> => goTo(config, "root:a").catch(({ message }) => message);
    const config = Kubeconfig.read(file, undefined);
    writeFileSync(file, `${CONFIG}# changed\n`);
    expect(await failed(config)).to.equal(`another program has changed ${file}: nothing was written, try again`);
    expect(readFileSync(file, "utf8")).to.equal(`${CONFIG}# changed\n`);
    writeFileSync(`${file}.lock`, "");
    expect(await failed(Kubeconfig.read(file, undefined))).to.equal(
      `${file} is locked by another program: if none is running, remove ${file}.lock`,
    );
    expect(readdirSync(folder.path).sort(), "a lock of another's stays").to.deep.equal(["config", "config.lock"]);
  });

  it("unless it cannot be read, and shows nothing of its content", async () => {
    const cases = [
      ["users: [{name: a, user: {token: secret}}", /: it is not YAML \([A-Z_]+, at character \d+\)$/],
      ["- secret", / is not a kubeconfig: it must begin with/],
      [CONFIG.replace("dev", "other"), /^current "other" context not found$/],
      [CONFIG.replace("cluster: k,", "cluster: j,"), /^cluster "j" not found in kubeconfig$/],
      [CONFIG.replace("/clusters/root:org", ""), /^current URL "https:\/\/h:6443" does not point to a workspace$/],
    ] as const;
    for (const [text, expected] of cases) {
      writeFileSync(file, text);
      const said = await Promise.resolve()
        .then(() => goTo(Kubeconfig.read(file, undefined), "root:a"))
        .catch(({ message }) => message as string);
      expect(said).to.match(expected).and.not.include("secret");
      expect(readFileSync(file, "utf8")).to.equal(text);
    }
    expect(() => Kubeconfig.read(join(folder.path, "none"), undefined)).to.throw(
      /cannot read \S*none: the file does not exist/,
    );
    writeFileSync(file, CONFIG);
    const none = await goBack(Kubeconfig.read(file, undefined)).catch(({ message }) => message);
    expect(none).to.equal("no previous workspace found in kubeconfig");
  });
});
