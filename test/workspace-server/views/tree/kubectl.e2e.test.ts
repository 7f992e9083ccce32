// The installed kubectl on the tree of workspaces. Skipped without one.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect } from "chai";
import { createAuthority, kubeconfigHome } from "../../../_support/server.ts";
import { startWorkspaces } from "../../support/workspaces.ts";

const KUBECTL = process.env["KUBECTL"] ?? "kubectl";
const run = promisify(execFile);
const CONTEXTS = {
  home: "/clusters/root",
  tree: "/services/workspaces/clusters/*",
  root: "/services/workspaces/clusters/root",
};
const WORKSPACE = {
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  spec: { type: { name: "universal", path: "root" } },
};

describe("kubectl on the tree of workspaces", function () {
  this.timeout(60_000);

  before(async function () {
    await run(KUBECTL, ["version", "--client"]).catch(() => this.skip());
  });

  it("lists and watches the accessible workspaces, and shows forbidden ones as errors", async () => {
    const authority = createAuthority();
    await using server = await startWorkspaces(undefined, { tls: authority.server });
    const port = Number(new URL(server.url).port);
    using home = await kubeconfigHome({ authority, port, contexts: CONTEXTS, token: "alice" });
    const env = { ...process.env, HOME: home.home, KUBECONFIG: home.kubeconfig };
    const kubectl = async (...args: string[]): Promise<string> => {
      const { stdout, stderr } = await run(KUBECTL, args, { env }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      return (stdout + stderr).trim();
    };
    const admin = (...args: string[]) => kubectl("--token", "root", "--context", "home", ...args);
    for (const name of ["one", "two"]) {
      const file = join(home.home, `${name}.json`);
      writeFileSync(file, JSON.stringify({ ...WORKSPACE, metadata: { name } }));
      expect(await admin("create", "-f", file)).to.contain("created");
      expect(await admin("wait", `ws/${name}`, "--for=jsonpath={.status.phase}=Ready")).to.contain("condition met");
    }
    const one = await admin("get", "ws", "one", "-o", "jsonpath={.spec.cluster}");
    expect(await kubectl("get", "workspaces", "--context", "tree")).to.equal("No resources found");
    const watching = spawn(KUBECTL, ["get", "ws", "--context", "tree", "-o", "name", "--watch"], { env });
    await using _ended = ending(watching);
    const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
    const there = ["--server", `${server.url}/clusters/${one}`];
    const access = ["create", "clusterrolebinding", "in", "--clusterrole=system:kcp:workspace:access", "--user=alice"];
    expect(await admin(...there, ...access)).to.contain("created");
    expect((await lines.next()).value).to.equal("workspace.tenancy.kcp.io/one");
    const table = await kubectl("get", "ws", "--context", "root");
    expect(table.split("\n").map((line) => line.split(/\s+/).slice(0, 3))).to.deep.equal([
      ["NAME", "TYPE", "REGION"],
      ["one", "universal", "Ready"],
    ]);
    const can = (...args: string[]) => kubectl("auth", "can-i", ...args, "--context", "root");
    expect(await can("get", "workspaces/one")).to.match(/^yes/);
    expect(await can("get", "workspaces/two")).to.match(/^no/);
    expect(await kubectl("get", "ws", "two", "--context", "root")).to.contain(
      'workspaces.tenancy.kcp.io "two" is forbidden: User "alice" cannot get resource "workspaces"',
    );
    expect(await kubectl("delete", "ws", "one", "--context", "root")).to.contain("MethodNotAllowed");
    expect(await kubectl("explain", "workspace.spec.cluster", "--context", "root")).to.contain("FIELD: cluster");
  });
});

function ending(child: ChildProcess): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    },
  };
}
