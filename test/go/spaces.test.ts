// All spaces as one API server for clients in Go: an informer that knows nothing of spaces, and kubectl.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { freePort } from "../_support/free-ports.ts";
import { Start } from "../cli/support/start.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";
import { type KubectlHome, kubectl, startKubectl } from "./support/kubectl.ts";

const own = (): string => kubectls()[0] ?? "";
const FLAGS = ["--batteries-included=+spaces"];
/** Token of an administrator, also after a restart. */
const TOKEN = "of-the-go-tests";
const FILES = { "tokens.csv": `${TOKEN},somebody,1,system:kcp:admin\n` };
const MENUS = ["--field-selector=metadata.name!=kube-root-ca.crt"];

describe("all spaces together, for clients in Go", function () {
  this.timeout(120_000);
  let server: Start;
  let port: number;

  before(async function () {
    needsKubectl.call(this);
    await building("clients").call(this);
    port = await freePort();
    server = await Start.ready({
      at: ["--bind-address=127.0.0.1", `--secure-port=${port}`],
      flags: FLAGS,
      files: FILES,
    });
    for (const name of ["one", "two"]) await make(name);
  });
  after(() => server?.[Symbol.asyncDispose]());

  /** Returns a kubeconfig for a path below the server. */
  function home(path: string): KubectlHome {
    const name = path.replaceAll(/\W/g, "-");
    const kubeconfig = join(server.folder.path, `${name}.kubeconfig`);
    const cluster = { server: server.url + path, "certificate-authority": server.path("apiserver.crt") };
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": name },
      clusters: [{ name, cluster }],
      users: [{ name, user: { token: TOKEN } }],
      contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    return { home: server.folder.path, kubeconfig };
  }

  const at = (path: string) => home(`/services/spaces/${path}`);
  const management = () => home("/clusters/root:spaces");

  async function says(where: KubectlHome, ...args: readonly string[]): Promise<string> {
    const said = await kubectl(own(), where, args);
    expect(said.code, `${args.join(" ")}: ${said.stderr}`).to.equal(0);
    return said.stdout;
  }

  async function make(name: string): Promise<void> {
    const file = join(server.folder.path, "space.json");
    const about = { apiVersion: "space.kubestellar.io/v1alpha1", kind: "Space" };
    writeFileSync(file, JSON.stringify({ ...about, metadata: { name, namespace: "default" }, spec: {} }));
    await says(management(), "create", "-f", file);
    await says(management(), "wait", "space", name, "--for=jsonpath={.status.Phase}=Ready", "--timeout=60s");
  }

  it("are followed by an informer while spaces appear and disappear, across a restart of the server", async () => {
    await says(at("default/one"), "create", "configmap", "soup");
    await says(at("default/two"), "create", "configmap", "fish");
    await using client = GoClient.start("informer", {
      ...at("*/*"),
      flags: { resource: "configmaps.v1.", namespace: "default", fields: "metadata.name!=kube-root-ca.crt" },
    });
    await client.event("synced");
    const keys = () => [...client.objects.keys()].sort();
    expect(keys()).to.eql(["default/fish", "default/soup"]);

    await make("three");
    await says(at("default/three"), "create", "configmap", "bread");
    await client.event("added", ({ key }) => key === "default/bread");
    await says(management(), "delete", "space", "three");
    await client.event("deleted", ({ key }) => key === "default/bread");

    expect(await server.end("SIGTERM")).to.equal(0);
    const again = new Start({
      in: server.folder.path,
      at: ["--bind-address=127.0.0.1", `--secure-port=${port}`],
      flags: [...FLAGS, "--token-auth-file", join(server.folder.path, "tokens.csv")],
    });
    await using _ = { [Symbol.asyncDispose]: () => again[Symbol.asyncDispose]() };
    await again.until("ready", () => again.url !== "", 20_000);
    await says(at("default/two"), "create", "configmap", "wine");
    await client.event("added", ({ key }) => key === "default/wine", 60_000);
    expect(keys()).to.eql(["default/fish", "default/soup", "default/wine"]);
    expect(client.all("deleted").map(({ key }) => key)).to.eql(["default/bread"]);
    await client.end();
    await again.end("SIGTERM");
  });

  it("can be read, watched and changed with kubectl as one server", async () => {
    await using second = await Start.ready({ flags: FLAGS, files: FILES });
    server = second;
    for (const name of ["one", "two"]) await make(name);
    await says(at("default/one"), "create", "configmap", "soup", "--from-literal=of=leek");
    await says(at("default/two"), "create", "configmap", "fish");
    const all = at("*/*");
    const rows = (await says(all, "get", "configmaps", ...MENUS)).split("\n").map((row) => row.split(/ +/).slice(0, 2));
    expect(rows).to.eql([
      ["NAME", "SPACE"],
      ["soup", "default/one"],
      ["fish", "default/two"],
    ]);
    await using watch = startKubectl(own(), all, ["get", "configmaps", "-o", "name", "--watch-only", ...MENUS]);
    await watch.until("its list", () => true);
    for (const [said, ...args] of [
      ["configmap/soup annotated", "annotate", "configmap", "soup", "a=b"],
      ["configmap/soup labeled", "label", "configmap", "soup", "c=d"],
      ["configmap/soup patched", "patch", "configmap", "soup", "--type=merge", '-p={"data":{"of":"pea"}}'],
    ] as const)
      expect(await says(all, ...args)).to.equal(said);
    const map = JSON.parse(await says(all, "get", "configmap", "soup", "-o", "json"));
    expect(map.data).to.eql({ of: "pea" });
    const file = join(server.folder.path, "map.json");
    writeFileSync(file, JSON.stringify({ ...map, data: { of: "nettle" } }));
    expect(await says(all, "replace", "-f", file)).to.equal("configmap/soup replaced");
    const { resourceVersion: _r, managedFields: _m, annotations: _a, ...metadata } = map.metadata;
    writeFileSync(file, JSON.stringify({ ...map, metadata, data: { of: "sorrel" } }));
    const applied = await says(all, "apply", "--server-side", "--force-conflicts", "-f", file);
    expect(applied).to.equal("configmap/soup serverside-applied");
    expect(await says(at("default/one"), "get", "configmap", "soup", "-o", "jsonpath={.data.of}")).to.equal("sorrel");
    expect(await says(all, "describe", "configmap", "soup")).to.include("space.kubestellar.io/space: default/one");
    const none = await kubectl(own(), all, ["create", "configmap", "new"]);
    expect([none.code, none.stderr]).to.eql([
      1,
      'error: failed to create configmap: create is not supported on resources of kind "configmaps" across spaces: name one, as in /services/spaces/default/one',
    ]);
    expect(await says(all, "delete", "configmap", "soup")).to.equal('configmap "soup" deleted');
    await watch.until("what was changed", () => watch.lines.filter((line) => line === "configmap/soup").length >= 5);
    const ambiguous = await kubectl(own(), all, ["get", "configmap", "kube-root-ca.crt"]);
    expect(ambiguous.stderr).to.include("/services/spaces/default/one, /services/spaces/default/two");
    expect(await says(all, "auth", "can-i", "list", "configmaps")).to.equal("yes");
    expect(await says(all, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).to.equal("somebody");
  });
});
