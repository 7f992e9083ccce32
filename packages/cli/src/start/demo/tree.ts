import { Client } from "@virtual-workspaces/client";
import { Workspace } from "@virtual-workspaces/kcp";
import { ClusterRoleBinding, ConfigMap } from "@virtual-workspaces/workspace-server";
import { MENU, PUBLISHED } from "./place.ts";

/** How long a workspace may take to be Ready, ms. */
const READY_WITHIN = 30_000;

/**
 * Makes the tree of the demonstration, and leaves what is there as it is: `root:acme` with Alice as its administrator, and in
 * it `shop` and `lab`, which she makes.
 *
 * @returns the logical cluster of `shop`: views are asked by that
 * @throws ApiError, TransportError
 */
export async function makeTree(kubeconfig: string): Promise<string> {
  await using admin = await Client.fromKubeconfig({ file: kubeconfig, context: "root" });
  await using alice = await Client.fromKubeconfig({ file: kubeconfig, context: "alice" });
  await makeWorkspace(admin, { name: "acme", type: "organization" });
  const acme = admin.cluster("root:acme");
  await bind(acme, { user: "alice", role: "cluster-admin" });
  await bind(acme, { user: "bob", role: "system:kcp:workspace:access" });
  const inAcme = alice.cluster("root:acme");
  const [shop] = await Promise.all([
    makeWorkspace(inAcme, { name: "shop", type: "universal" }),
    makeWorkspace(inAcme, { name: "lab", type: "universal" }),
  ]);
  const menu = { metadata: { name: MENU, labels: { [PUBLISHED]: "yes" } }, data: { soup: "4.50", stew: "9.80" } };
  const secrets = { metadata: { name: "recipes" }, data: { soup: "more salt than you think" } };
  for (const configMap of [menu, secrets]) await alice.resource(ConfigMap).in("default").apply(configMap);
  return shop;
}

async function makeWorkspace(
  parent: Client,
  { name, type }: { readonly name: string; readonly type: string },
): Promise<string> {
  const workspaces = parent.resource(Workspace);
  const signal = AbortSignal.timeout(READY_WITHIN);
  await workspaces.apply({ metadata: { name }, spec: { type: { name: type, path: "root" } } }, { signal });
  for await (const event of workspaces.watch({ fields: `metadata.name=${name}`, signal }))
    if (event.type !== "BOOKMARK" && event.object.status?.phase === "Ready") return event.object.spec.cluster ?? "";
  throw new Error(`workspace ${name} is not Ready: the server ended the watch`);
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
