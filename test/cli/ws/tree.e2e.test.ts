// The tree with one request, and the same list by list.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Session } from "../../../packages/cli/src/ws/session/session.ts";
import { readTree, type TreeNode, walkTree } from "../../../packages/cli/src/ws/tree/nodes.ts";
import { kubectls, needsKubectl } from "../../e2e/support/kubectls.ts";
import { kubectl } from "../../go/support/kubectl.ts";
import { Start } from "../support/start.ts";

const workspace = (name: string, spec: object) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec,
});
const UNIVERSAL = { type: { name: "universal", path: "root" } };
/** Mounted on an object of an unknown kind, so it is not ready. */
const MOUNTED = { mount: { ref: { apiVersion: "v1", kind: "ConfigMap", name: "none", namespace: "default" } } };

describe("kubectl ws tree", function () {
  this.timeout(120_000);
  let server: Start;
  let session: Session;

  before(async function () {
    needsKubectl.call(this);
    server = await Start.ready({ flags: ["--shards=2", "--v=3"] });
    await make("root", "b", "a", "c");
    await make("root:b", "two", "one");
    await make("root:b:one", "deep");
    await apply("root:b", workspace("mounted", MOUNTED));
    // Ensures that all earlier requests are in the log.
    await run("get", "--raw", `${server.url}/version?last`);
    await server.until("the log", () => asked(0).at(-1)?.startsWith("/version") === true);
    session = await Session.open({ file: server.home.kubeconfig, context: undefined, overrides: {}, timeout: 20_000 });
  });
  after(async () => {
    await session?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const run = (...args: string[]) =>
    kubectl(
      kubectls()[0] ?? "",
      { ...server.home, env: { PATH: `${server.path("bin")}:${process.env["PATH"]}` } },
      args,
    );

  async function apply(at: string, object: object): Promise<void> {
    const file = join(server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    const { code, stderr } = await run("create", "-f", file, `--server=${server.url}/clusters/${at}`);
    expect(code, stderr).to.equal(0);
  }
  async function make(at: string, ...names: string[]): Promise<void> {
    for (const name of names) await apply(at, workspace(name, UNIVERSAL));
    for (const name of names) {
      const args = [
        "wait",
        `ws/${name}`,
        "--for=jsonpath={.status.phase}=Ready",
        `--server=${server.url}/clusters/${at}`,
      ];
      const { code, stderr } = await run(...args);
      expect(code, stderr).to.equal(0);
    }
  }
  /** Returns the user's requests since then. */
  const asked = (since: number): readonly string[] =>
    [...server.stderr.slice(since).matchAll(/ HTTP .*? path="([^"]*)".* user="kcp-admin"/g)].map(
      ([, path = ""]) => path,
    );

  it("takes one request for the whole tree, over all shards", async () => {
    const since = server.stderr.length;
    const { stdout, stderr } = await run("ws", "tree");
    expect([stderr, stdout]).to.deep.equal([
      "",
      ".\n└── root\n    ├── a\n    ├── b\n    │   ├── mounted [m]\n    │   ├── one\n    │   │   └── deep\n    │   └── two\n    └── c\n",
    ]);
    await server.until("the log", () => asked(since).length > 0);
    expect(asked(since)).to.deep.equal(["/services/workspaces/clusters/*/apis/tenancy.kcp.io/v1alpha1/workspaces"]);
  });

  it("fails for a workspace that does not exist, and shows one without children", async () => {
    const { code, stdout, stderr } = await run("ws", "tree", "-w", ":root:nothere");
    expect([code, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.include('Error: workspace "root:nothere" not found');
    expect((await run("ws", "tree", "-w", ":root:a")).stdout).to.equal(".\n└── a\n");
  });

  it("equals the tree that lists produce", async () => {
    for (const path of ["root", "root:b", "root:b:one", "root:a"])
      expect(shown(await readTree(session, path)), path).to.deep.equal(shown(await walkTree(session, path)));
  });

  it("is read list by list from an alias of a path, and from a server without the view", async () => {
    const since = server.stderr.length;
    expect((await readTree(session, "root:b:one:deep")).children).to.deep.equal([]);
    expect((await readTree(session, "root:nope")).children).to.deep.equal([]);
    await server.until("the log", () => asked(since).some((path) => path.startsWith("/clusters/root:nope")));
  });
});

/** Omits metadata, of which the view returns more. */
function shown({ path, workspace, children }: TreeNode): object {
  return { path, spec: workspace?.spec, status: workspace?.status, children: children.map(shown) };
}
