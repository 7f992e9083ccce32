// kubectl with the name of an object that several Spaces have: each command prints the paths, and no advice about other problems.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { needsKubectl } from "../../../e2e/support/kubectls.ts";
import { type KubectlHome, kubectl, machineKubectls, type Output } from "../../../go/support/kubectl.ts";
import { Lent } from "../support/lent.ts";
import { Viewed } from "../support/viewed.ts";

const WHERE =
  'configmaps "menu" is ambiguous: several spaces have an object with this name: use one of /services/spaces/-/one, /services/spaces/-/two';

describe("kubectl with an object that several Spaces have", function () {
  this.timeout(120_000);
  let lent: Lent;
  let viewed: Viewed;
  let folder: string;
  let home: KubectlHome;
  let manifest: string;

  before(async function () {
    needsKubectl.call(this);
    lent = await Lent.start("one", "two");
    for (const space of ["one", "two"]) await lent.put(space, "menu", { soup: "pea" });
    // kubectl sends no token over plain HTTP.
    const user = new User({ name: "shard-admin", groups: ["system:masters"] });
    viewed = await Viewed.over(lent, { authentication: { name: "anybody", authenticate: () => user } });
    folder = mkdtempSync(join(tmpdir(), "ambiguous-"));
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigOf(`${viewed.server.url}/services/spaces/*/*`));
    manifest = join(folder, "menu.yaml");
    writeFileSync(
      manifest,
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: menu, namespace: default }\ndata: { soup: leek }\n",
    );
    home = { home: folder, kubeconfig, env: { KUBE_EDITOR: "true" } };
  });
  after(async () => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
    await viewed?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });

  const run = (...args: readonly string[]): Promise<Output> => kubectl(machineKubectls()[0] ?? "", home, args);

  const COMMANDS: Readonly<Record<string, () => readonly string[]>> = {
    get: () => ["get", "configmap", "menu"],
    describe: () => ["describe", "configmap", "menu"],
    edit: () => ["edit", "configmap", "menu"],
    apply: () => ["apply", "-f", manifest],
    "apply --server-side": () => ["apply", "--server-side", "-f", manifest],
    "apply --server-side --force-conflicts": () => ["apply", "--server-side", "--force-conflicts", "-f", manifest],
    replace: () => ["replace", "-f", manifest],
    patch: () => ["patch", "configmap", "menu", "-p", '{"data":{"soup":"leek"}}'],
    annotate: () => ["annotate", "configmap", "menu", "season=autumn"],
    delete: () => ["delete", "configmap", "menu"],
    "delete --ignore-not-found": () => ["delete", "--ignore-not-found", "configmap", "menu"],
  };

  for (const [name, args] of Object.entries(COMMANDS))
    it(`prints only the paths of the Spaces: ${name}`, async () => {
      const { code, stdout, stderr } = await run(...args());
      expect([code, stdout], stderr).to.eql([1, ""]);
      // The paths end the output: no advice follows.
      expect(stderr).to.match(/^Error from server \(BadRequest\): /);
      expect(stderr.endsWith(WHERE), stderr).to.equal(true);
    });

  it("changes neither object", async () => {
    for (const space of ["one", "two"]) {
      const { data, metadata } = await lent
        .inside(space)
        .resource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" })
        .in("default")
        .get("menu");
      expect([data, metadata.annotations?.["season"]]).to.eql([{ soup: "pea" }, undefined]);
    }
  });
});

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "all",
    clusters: [{ name: "all", cluster: { server } }],
    users: [],
    contexts: [{ name: "all", context: { cluster: "all" } }],
  });
}
