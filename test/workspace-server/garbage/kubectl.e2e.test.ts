// Why: the machine's kubectl deletes objects with each propagation policy. Skipped without kubectl.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { createAuthority, kubeconfigHome } from "../../_support/server.ts";
import { ownerOf } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const KUBECTL = process.env["KUBECTL"] ?? "kubectl";
const run = promisify(execFile);

describe("kubectl delete", function () {
  this.timeout(60_000);

  before(async function () {
    await run(KUBECTL, ["version", "--client"]).catch(() => this.skip());
  });

  it("deletes with --cascade=foreground, background and orphan, and waits for a namespace", async () => {
    await using store = memoryStore();
    const authority = createAuthority();
    await using server = await startWorkspaces(store, { authority });
    const port = Number(new URL(server.url).port);
    const contexts = { root: "/clusters/root" };
    using home = await kubeconfigHome({ authority, port, contexts, user: "alice", token: "root" });
    const env = { ...process.env, HOME: home.home, KUBECONFIG: home.kubeconfig };
    const kubectl = async (...args: string[]): Promise<string> => (await run(KUBECTL, args, { env })).stdout.trim();
    const configMap = async (name: string, metadata: object = {}): Promise<unknown> => {
      const file = join(home.home, `${name}.json`);
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } }));
      return JSON.parse(await kubectl("create", "-f", file, "-o", "json"));
    };
    const names = (): Promise<string> => kubectl("get", "configmaps", "-o", "name");
    for (const cascade of ["foreground", "background", "orphan"] as const) {
      const owner = await configMap("owner");
      await configMap(cascade, { ownerReferences: [ownerOf(owner, { blockOwnerDeletion: true })] });
      const said = await kubectl("delete", "configmap", "owner", `--cascade=${cascade}`, "--timeout=20s");
      expect(said).to.match(/configmap "owner" deleted/);
      // Foreground deletion removes the dependents first.
      if (cascade === "foreground") expect(await names()).to.not.contain("foreground");
      if (cascade === "background") await kubectl("wait", "--for=delete", "configmap/background", "--timeout=20s");
    }
    const orphan = JSON.parse(await kubectl("get", "configmap", "orphan", "-o", "json"));
    expect(orphan.metadata.ownerReferences).to.equal(undefined);
    await kubectl("create", "namespace", "old");
    await kubectl("create", "configmap", "a", "--namespace=old", "--from-literal=x=y");
    expect(await kubectl("delete", "namespace", "old", "--timeout=20s")).to.contain('namespace "old" deleted');
    expect(await kubectl("get", "namespaces", "-o", "name")).to.equal("namespace/default\nnamespace/kcp-system");
  });
});
