// A provider's workspace with the export of examples/operator/inventory.ts, a workspace that has bound it and has an Item,
// and a kubeconfig of a user who may do in the provider's workspace what `manifests --rbac` prints, and nothing else anywhere.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { until } from "../../_support/until.ts";
import { cli } from "./dev.ts";
import { made, workspace } from "./exported.ts";
import { Start } from "./start.ts";

export const INVENTORY: string = join(root, "examples/operator/inventory.ts");

const TOKENS = [
  'root-token,shard-root,1,"system:masters"',
  "views-token,inventory-server,2",
  "alice-token,alice,3",
  "bob-token,bob,4",
  'admin-token,kcp-admin,5,"system:kcp:admin"',
  "",
].join("\n");
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "inventory" },
  spec: { reference: { export: { path: "root:provider", name: "inventory" } } },
};
const READER = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "stocks" },
  rules: [
    { apiGroups: ["inventory.example.dev"], resources: ["stocks"], verbs: ["get", "list", "watch"] },
    { nonResourceURLs: ["/"], verbs: ["access"] },
  ],
};
const READS = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "stocks" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "stocks" },
  subjects: [{ kind: "User", name: "alice", apiGroup: "rbac.authorization.k8s.io" }],
};
const APIS = "/clusters/root:provider/apis";

export interface ProviderOptions {
  /** Installs the export and the role in `root:provider`. @default what `manifests` prints, by kubectl */
  readonly prepare?: (shard: Start, folder: Tree) => Promise<void>;
}

/** A workspace server with the provider `root:provider`, where `alice` may read stocks. */
export class Provider implements AsyncDisposable {
  readonly shard: Start;
  readonly folder: Tree;
  /** Logical cluster that has bound the export, with the Item `bolt`. */
  readonly consumer: string;

  private constructor(shard: Start, folder: Tree, consumer: string) {
    this.shard = shard;
    this.folder = folder;
    this.consumer = consumer;
  }

  static async ready({ prepare = byKubectl }: ProviderOptions = {}): Promise<Provider> {
    await using stack = new AsyncDisposableStack();
    const shard = stack.use(await Start.ready({ files: { "tokens.csv": TOKENS } }));
    const folder = stack.use(tree({}));
    await workspace(shard, "provider", "root");
    await prepare(shard, folder);
    await made(shard, `${APIS}/rbac.authorization.k8s.io/v1/clusterroles`, READER);
    await made(shard, `${APIS}/rbac.authorization.k8s.io/v1/clusterrolebindings`, READS);
    const consumer = await workspace(shard, "consumer", "root");
    const bindings = "/clusters/root:consumer/apis/apis.kcp.io/v1alpha2/apibindings";
    await made(shard, bindings, BINDING);
    const isBound = async (): Promise<boolean> =>
      JSON.parse((await shard.get(`${bindings}/inventory`, { token: "root-token" })).body).status?.phase === "Bound";
    await until(isBound, { what: "bound" });
    const item = {
      apiVersion: "inventory.example.dev/v1",
      kind: "Item",
      metadata: { name: "bolt" },
      spec: { count: 7 },
    };
    await made(shard, "/clusters/root:consumer/apis/inventory.example.dev/v1/items", item);
    stack.move();
    return new Provider(shard, folder, consumer);
  }

  /** Kubeconfig of the server's user. */
  get kubeconfig(): string {
    return kubeconfigOf(this.shard, "views-token");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shard[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

/** Returns a kubeconfig that is scoped to the provider's workspace, as those of kcp-operator. */
export function kubeconfigOf(shard: Start, token: string): string {
  const ca = Buffer.from(shard.text("apiserver.crt")).toString("base64");
  const cluster = { server: `${shard.url}/clusters/root:provider`, "certificate-authority-data": ca };
  return stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "default" },
    clusters: [{ name: "default", cluster }],
    users: [{ name: "default", user: { token } }],
    contexts: [{ name: "default", context: { cluster: "default", user: "default" } }],
  });
}

async function byKubectl(shard: Start, folder: Tree): Promise<void> {
  const lists = [
    ["manifests", INVENTORY],
    ["manifests", "--rbac", "--user=inventory-server", INVENTORY],
  ];
  for (const [at, words] of lists.entries()) {
    const file = join(folder.path, `${at}.yaml`);
    const { code, stdout, stderr } = await cli(...words);
    if (code !== 0) throw new Error(stderr);
    writeFileSync(file, stdout);
    const server = ["--context", "base", "-s", `${shard.url}/clusters/root:provider`];
    const applied = await shard.kubectl(...server, "--token=root-token", "apply", "-f", file);
    if (!applied.startsWith("0 ")) throw new Error(applied);
  }
}
