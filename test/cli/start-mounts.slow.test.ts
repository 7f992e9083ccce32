// `virtual-workspaces start` reconciles mounted workspaces on each shard, unless a gate turns that off.
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { crd } from "../_support/crd.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Start } from "./support/start.ts";

const KIND = crd("KubeCluster", {
  scope: "Cluster",
  properties: { status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  version: { subresources: { status: {} } },
});
const workspace = (name: string, spec: object) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec,
});
const MOUNTED = [
  workspace("mounted", { mount: { ref: { apiVersion: "example.dev/v1", kind: "KubeCluster", name: "far" } } }),
  { apiVersion: "example.dev/v1", kind: "KubeCluster", metadata: { name: "far" } },
];
const FAR = { type: { name: "universal", path: "root" }, location: { selector: { matchLabels: { name: "shard-1" } } } };
const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });
const STATUS = JSON.stringify({ status: { phase: "Ready", URL: "https://far.example" } });
const WAIT = ["wait", "--timeout=20s"];

describe("virtual-workspaces start and mounted workspaces", function () {
  this.timeout(60_000);
  before(needsKubectl);

  it("reconciles them on each shard, unless the gate is off", async () => {
    const files = { "far.json": workspace("far", FAR), "kind.json": KIND };
    const texts = Object.entries(files).map(([name, object]) => [name, JSON.stringify(object)]);
    using folder = tree({ ...Object.fromEntries(texts), "mounted.json": list(MOUNTED) });
    await using first = await Start.ready({ flags: ["--shards=2"] });
    expect(await first.kubectl("create", "-f", `${folder.path}/far.json`)).to.match(/^0 /);
    expect(await first.kubectl(...WAIT, "--for=jsonpath={.status.phase}=Ready", "workspace/far")).to.match(/^0 /);
    for (const path of ["root", "root:far"]) {
      const kubectl = (...args: string[]) => first.kubectl("--server", `${first.url}/clusters/${path}`, ...args);
      expect(await kubectl("create", "-f", `${folder.path}/kind.json`)).to.match(/^0 /);
      expect(await kubectl(...WAIT, "--for=condition=Established", "crd/kubeclusters.example.dev")).to.match(/^0 /);
      expect(await kubectl("create", "-f", `${folder.path}/mounted.json`)).to.match(/^0 /);
      const patch = ["patch", "kubecluster", "far", "--subresource=status", "--type=merge", "-p", STATUS];
      expect(await kubectl(...patch)).to.match(/^0 /);
      expect(await kubectl(...WAIT, "--for=condition=WorkspaceMountReady", "workspace/mounted")).to.match(/^0 /);
      expect(await kubectl("get", "workspace", "mounted", "--no-headers")).to.match(
        /^0 mounted +Ready +https:\/\/far\.example /,
      );
    }
    expect(await first.end("SIGTERM")).to.equal(0);
    expect(first.stderr.match(/^.* (warn|error) .*$/gm)).to.equal(null);

    await using second = await Start.ready({ in: first.folder.path, flags: ["--feature-gates=WorkspaceMounts=false"] });
    const said = ["--for=jsonpath={.status.conditions[0].reason}=FeatureGateDisabled", "workspace/mounted"];
    for (const path of ["root", "root:far"])
      expect(await second.kubectl("--server", `${second.url}/clusters/${path}`, ...WAIT, ...said)).to.match(/^0 /);
    expect(await second.end("SIGTERM")).to.equal(0);
  });
});
