// Why: kcp-operator starts a foreign image with its own arguments, paths and restrictions. The samples of deploy/kcp-operator are
// rendered as it does, and run from the image, read-only and as the image's user, against a real server.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../../tools/install.mjs";
import type { Tree } from "../_setup/tree.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { until } from "../_support/until.ts";
import { INVENTORY, kubeconfigOf, Provider } from "../cli/support/provider.ts";
import type { Start } from "../cli/support/start.ts";
import { type Answer, ask } from "../cli/support/views-of-workspaces.ts";
import { Container, needsNamespaces } from "./support/container.ts";
import { imageRoot, volume } from "./support/image.ts";
import { type RenderedContainer, rendered, type VirtualWorkspace } from "./support/operator.ts";

const read = (name: string): string => readFileSync(join(root, "deploy/kcp-operator", name), "utf8");
const SAMPLE = parse(read("virtualworkspace.yaml")) as VirtualWorkspace;
const STOCKS = "/services/inventory/apis/inventory.example.dev/v1/stocks";
/** In `extraArgs`, so that the replicas of the test can share an address. The operator's own port is 6443. */
const ANY_PORT = "--secure-port=0";

describe("a VirtualWorkspace of kcp-operator", function () {
  this.timeout(300_000);
  const servers = Authority.root("server");
  const proxies = Authority.root("requestheader-client");
  const clients = Authority.root("client");
  const pod = rendered(SAMPLE);
  let provider: Provider;
  let secrets: Readonly<Record<string, string>>;
  const replicas: Container[] = [];

  /** Writes the Secrets and the ConfigMap of the pod. */
  function secretsOf(shard: Start, folder: Tree): Readonly<Record<string, string>> {
    const of = (name: string, files: Readonly<Record<string, string>>) => [
      name,
      volume(join(folder.path, name), files),
    ];
    const { cert, key } = servers.issue({ name: "inventory", usages: [SERVER_AUTH] });
    return Object.fromEntries([
      of("root-ca", { "tls.crt": servers.cert }),
      of("root-server-ca", { "tls.crt": servers.cert }),
      of("root-requestheader-client-ca", { "tls.crt": proxies.cert }),
      of("root-client-ca", { "tls.crt": clients.cert }),
      of("inventory-virtual-workspace-server", { "tls.crt": cert, "tls.key": key }),
      of("inventory-server-kubeconfig", { kubeconfig: kubeconfigOf(shard, "views-token") }),
      of("inventory-init-kubeconfig", { kubeconfig: kubeconfigOf(shard, "admin-token") }),
      of("root-logical-cluster-admin-kubeconfig", { kubeconfig: kubeconfigOf(shard, "root-token") }),
      of("inventory-client", {}),
      of("inventory-view", { "inventory.ts": readFileSync(INVENTORY, "utf8") }),
    ]);
  }

  const run = ({ command, args, mounts }: RenderedContainer, more: readonly string[] = []): Promise<Container> =>
    Container.start({
      command,
      args: [...args, ...more],
      mounts: Object.fromEntries(Object.entries(mounts).map(([path, name]) => [path, secrets[name] ?? ""])),
    });

  /** Runs the init containers of a replica, one after the other. Returns their output. */
  async function initialize(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const each of pod.initContainers) {
      await using container = await run(each);
      const { code } = await container.ended;
      expect(code, container.stderr).to.equal(0);
      lines.push(...container.lines);
    }
    return lines;
  }

  before(async function () {
    needsNamespaces.call(this);
    await imageRoot(); // once, before two containers start at the same time
    provider = await Provider.ready({
      prepare: async (shard, folder) => {
        secrets = secretsOf(shard, folder);
        const [first, second] = await Promise.all([initialize(), initialize()]);
        expect(first).to.deep.equal(second);
        expect(first)
          .to.include("APIExport inventory applied")
          .and.to.include("ClusterRoleBinding virtual-workspaces-serve applied");
      },
    });
    for (let n = 0; n < pod.replicas; n++) replicas.push(await run(pod.server, [ANY_PORT]));
    for (const replica of replicas) {
      await replica.until("ready", () => replica.port !== 0, 60_000);
      await until(async () => (await get("/readyz", {}, replica)).code === 200, { what: "ready" });
    }
  });

  after(async () => {
    for (const replica of replicas) await replica[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  const get = (path: string, options: Parameters<typeof ask>[1] = {}, replica = replicas[0]): Promise<Answer> =>
    ask(`https://127.0.0.1:${replica?.port}${path}`, { ca: servers.cert, ...options });
  const byProxy = (name: string, user: string) => ({ ...proxies.issue({ name }), headers: { "x-remote-user": user } });

  it("serves the callers that the operator's proxies name, on each replica, with the rights of the Kubeconfig", async () => {
    for (const replica of replicas)
      for (const name of ["kcp-front-proxy", "kcp-root-shard-proxy"]) {
        const answer = await until(
          async () => {
            const { code, body } = await get(STOCKS, byProxy(name, "alice"), replica);
            return code === 200 && body.includes("bolt") ? body : undefined;
          },
          { what: "the item" },
        );
        expect(JSON.parse(answer).items).to.have.length(1);
        expect((await get(STOCKS, byProxy(name, "bob"), replica)).code).to.equal(403);
      }
  });

  it("rejects other proxies, and headers beside certificates of users", async () => {
    expect((await get(STOCKS, byProxy("another", "alice"))).code).to.equal(401);
    const shard = clients.issue({ name: "shard", organizations: ["system:masters"] });
    expect((await get(STOCKS, { ...shard, headers: { "x-remote-user": "alice" } })).code).to.equal(400);
  });

  it("needs no administrator: no container of its pod has one, but the init containers", () => {
    const mounted = Object.values(pod.server.mounts);
    expect(mounted).to.include("inventory-server-kubeconfig").and.not.include("root-logical-cluster-admin-kubeconfig");
    expect(mounted).to.not.include("inventory-init-kubeconfig");
  });

  it("writes nothing to its root, runs as another user than root, and warns about the one flag without effect", () => {
    for (const replica of replicas) {
      expect(
        readdirSync(replica.written, { recursive: true, withFileTypes: true }).filter(
          (one) => one.isFile() && one.name !== ".keep",
        ),
      ).to.deep.equal([]);
      expect(replica.stderr + replica.lines.join("\n")).to.include("--shard-external-url is accepted and ignored");
      expect(replica.identity()).to.deep.equal({ uid: 65_532, capabilities: 0n, init: true });
    }
  });

  it("runs the init containers again without a change, while the server serves", async () => {
    const path = "/clusters/root:provider/apis/apis.kcp.io/v1alpha2/apiexports/inventory";
    const version = async (): Promise<string> =>
      JSON.parse((await provider.shard.get(path, { token: "root-token" })).body).metadata.generation;
    const before = await version();
    await initialize();
    expect(await version()).to.equal(before);
    expect((await get(STOCKS, byProxy("kcp-front-proxy", "alice"))).code).to.equal(200);
  });

  it("ends by SIGTERM within the grace period, with 0", async () => {
    const replica = replicas.pop();
    replica?.stop();
    expect((await replica?.ended)?.code).to.equal(0);
    await replica?.[Symbol.asyncDispose]();
  });

  it("stands in for kcp's own program without a command, with the administrator of the shard", async () => {
    const { command: _, kubeconfigSecretRef: __, extraArgs: ___, ...spec } = SAMPLE.spec;
    const { server } = rendered({ ...SAMPLE, spec });
    expect(server.command).to.deep.equal(["/virtual-workspaces"]);
    await using container = await run(server, [ANY_PORT]);
    await container.until("ready", () => container.port !== 0, 60_000);
    await until(async () => (await get("/readyz/apiexport", {}, container)).code === 200, { what: "kcp's views" });
    container.stop();
    expect((await container.ended).code).to.equal(0);
  });

  it("is at the path of the front proxy's mapping", () => {
    const { spec } = parse(read("frontproxy.yaml"));
    const { name, namespace } = SAMPLE.metadata;
    const [mapping] = spec.additionalPathMappings;
    expect(STOCKS.startsWith(`${mapping.path}/`)).to.equal(true);
    expect(new URL(mapping.backend).host).to.equal(`${name}-virtual-workspace.${namespace}.svc.cluster.local:6443`);
    const kubeconfigs = parseAllDocuments(read("kubeconfigs.yaml")).map((document) => document.toJS());
    const minted = kubeconfigs.map(({ spec: { secretRef } }) => secretRef.name);
    expect(minted).to.deep.equal(["inventory-server-kubeconfig", "inventory-init-kubeconfig"]);
  });
});
