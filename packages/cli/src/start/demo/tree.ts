import { Client } from "@virtual-workspaces/client";
import { Workspace } from "@virtual-workspaces/kcp";
import { ClusterRoleBinding, ConfigMap } from "@virtual-workspaces/workspace-server";
import { once } from "../once.ts";
import { makeExport } from "./export.ts";
import { makeMounts } from "./mounts.ts";
import { ACME, LAB, MENU, PUBLISHED, SHOP } from "./place.ts";

/** What of the tree is shown. */
export interface Tree {
  /** The logical cluster of `shop`: views are asked by that. */
  readonly shop: string;
  /** That of `acme`. */
  readonly acme: string;
  /** Where the view of the export of `acme` is; `undefined` where none is served. */
  readonly exported: string | undefined;
  /** Whether workspaces of `acme` are mounted. */
  readonly mounts: boolean;
}

/** What there is to show. */
export interface TreeOptions {
  /** Whether there is a view of exports. */
  readonly exports: boolean;
  /** The kubeconfig of a plain cluster; `undefined` where there are no mounts. */
  readonly cluster: string | undefined;
}

/**
 * Makes the tree of the demonstration, and leaves what is there as it is: `root:acme` with Alice as its administrator, and in
 * it `shop` and `lab`, which she makes; both have bound what `acme` exports, where there is a view of it. Beside them others are mounted,
 * where there are mounts.
 *
 * @throws ApiError, TransportError
 */
export async function makeTree(kubeconfig: string, { exports, cluster }: TreeOptions): Promise<Tree> {
  await using admin = await Client.fromKubeconfig({ file: kubeconfig, context: "root" });
  await using alice = await Client.fromKubeconfig({ file: kubeconfig, context: "alice" });
  const acme = await makeWorkspace(admin, { name: "acme", type: "organization" });
  const asAdmin = admin.cluster(ACME);
  await bind(asAdmin, { user: "alice", role: "cluster-admin" });
  await bind(asAdmin, { user: "bob", role: "system:kcp:workspace:access" });
  const provider = alice.cluster(ACME);
  const [shop] = await Promise.all([
    makeWorkspace(provider, { name: "shop", type: "universal" }),
    makeWorkspace(provider, { name: "lab", type: "universal" }),
  ]);
  const menu = { metadata: { name: MENU, labels: { [PUBLISHED]: "yes" } }, data: { soup: "4.50", stew: "9.80" } };
  const secrets = { metadata: { name: "recipes" }, data: { soup: "more salt than you think" } };
  for (const configMap of [menu, secrets]) await alice.resource(ConfigMap).in("default").apply(configMap);
  const dishes = { [SHOP]: { name: "soup", price: "4.50" }, [LAB]: { name: "stew", price: "9.80" } };
  const exported = exports ? await makeExport({ provider, path: ACME, dishes }) : undefined;
  if (cluster !== undefined) await makeMounts(provider, cluster);
  return { shop, acme, exported, mounts: cluster !== undefined };
}

async function makeWorkspace(
  parent: Client,
  { name, type }: { readonly name: string; readonly type: string },
): Promise<string> {
  const workspaces = parent.resource(Workspace);
  await workspaces.apply({ metadata: { name }, spec: { type: { name: type, path: "root" } } });
  return once(workspaces, name, ({ spec, status }) => (status?.phase === "Ready" ? (spec.cluster ?? "") : undefined));
}

async function bind(
  workspace: Client,
  { user, role }: { readonly user: string; readonly role: string },
): Promise<void> {
  const apiGroup = "rbac.authorization.k8s.io";
  await workspace.resource(ClusterRoleBinding).apply({
    metadata: { name: user },
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
    subjects: [{ apiGroup, kind: "User", name: user }],
  });
}
