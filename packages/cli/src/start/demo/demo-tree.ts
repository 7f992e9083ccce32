import { Client } from "@virtual-workspaces/client";
import { defineResource, type Resource } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIExport,
  APIExportEndpointSlice,
  APIResourceSchema,
  exportManifests,
  Mount,
  Workspace,
} from "@virtual-workspaces/kcp";
import { ClusterRoleBinding, ConfigMap, Secret } from "@virtual-workspaces/workspace-server";
import { waitForObject } from "../../server/objects.ts";
import { ACME, CLUSTER, DISHES, LAB, LINK, MENU, MOVED, PUBLISHED, SHOP } from "./names.ts";

/** Parts of the tree that the demonstration shows. */
export interface Tree {
  /** Logical cluster of `shop`, which the view's URL contains. */
  readonly shop: string;
  /** Logical cluster of `acme`. */
  readonly acme: string;
  /** URL of the view of `acme`'s export; `undefined` if no view is served. */
  readonly exported: string | undefined;
  /** Whether `acme` has mounted workspaces. */
  readonly mounts: boolean;
}

/** Features that the demonstration shows. */
export interface TreeOptions {
  /** Whether exports have a view. */
  readonly exports: boolean;
  /** Kubeconfig of a plain cluster; `undefined` without mounts. */
  readonly cluster: string | undefined;
}

/**
 * Creates the tree of the demonstration: `root:acme` with Alice as its administrator, and her workspaces `shop` and `lab` in
 * it. If exports have a view, both bind the export of `acme`. With mounts, further workspaces are mounted. Existing objects
 * stay unchanged.
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
  return waitForObject(workspaces, name, ({ spec, status }) =>
    status?.phase === "Ready" ? (spec.cluster ?? "") : undefined,
  );
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

/** Kind that a workspace exports to others. */
export const Dish: Resource<{ spec: { price?: string } }> = defineResource({
  group: "menu.example.dev",
  version: "v1",
  kind: "Dish",
  plural: DISHES,
  scope: "Cluster",
  spec: { type: "object", properties: { price: { type: "string" } } },
  columns: { Price: ".spec.price" },
});

/** Exporting client, its path, and a dish for each workspace that binds the export. */
interface Menu {
  readonly provider: Client;
  readonly path: string;
  /** Dishes by path of the workspace. */
  readonly dishes: Readonly<Record<string, { readonly name: string; readonly price: string }>>;
}

/**
 * Creates an export, bindings to it and an object in each binding workspace. Existing objects stay unchanged.
 *
 * @returns the URL of the export's view, once it is published
 * @throws ApiError, TransportError
 */
async function makeExport({ provider, path, dishes }: Menu): Promise<string> {
  for (const object of exportManifests({ name: DISHES, resources: [Dish] })) {
    const kind = object.kind === APIExport.kind ? APIExport : APIResourceSchema;
    await provider.resource(kind as typeof APIExport).apply(object as never);
  }
  await Promise.all(
    Object.entries(dishes).map(async ([workspace, { name, price }]) => {
      const consumer = provider.cluster(workspace);
      const bindings = consumer.resource(APIBinding);
      await bindings.apply({ metadata: { name: DISHES }, spec: { reference: { export: { path, name: DISHES } } } });
      await waitForObject(bindings, DISHES, ({ status }) => (status?.phase === "Bound" ? true : undefined));
      await consumer.resource(Dish).apply({ metadata: { name }, spec: { price } });
    }),
  );
  const slices = provider.resource(APIExportEndpointSlice);
  return waitForObject(slices, DISHES, ({ status }) => status?.endpoints?.[0]?.url);
}

/** Mounts by name, with their targets. */
const MOUNTS = {
  [CLUSTER]: { type: "URL", ref: { apiVersion: "v1", kind: "Secret", namespace: "default", name: CLUSTER } },
  [LINK]: { type: "Workspace", path: SHOP },
  [MOVED]: { type: "Redirect", path: LAB },
} as const;

/**
 * Mounts a cluster, a link to another workspace and a redirect to a third. Existing objects stay unchanged, except the
 * address of the cluster. Resolves when the mounts are usable.
 *
 * @throws ApiError, TransportError
 */
async function makeMounts(workspace: Client, kubeconfig: string): Promise<void> {
  const reference = { export: { path: "root", name: "proxy.kcp.io" } };
  const bindings = workspace.resource(APIBinding);
  await bindings.apply({ metadata: { name: "mounts" }, spec: { reference } });
  await waitForObject(bindings, "mounts", ({ status }) => (status?.phase === "Bound" ? true : undefined));
  const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
  await workspace
    .resource(Secret)
    .in("default")
    .apply({ metadata: { name: CLUSTER }, type: "Opaque", data });
  await Promise.all(
    Object.entries(MOUNTS).map(async ([name, spec]) => {
      await workspace.resource(Mount).apply({ metadata: { name }, spec });
      const ref = { apiVersion: `${Mount.group}/${Mount.version}`, kind: Mount.kind, name };
      const workspaces = workspace.resource(Workspace);
      await workspaces.apply({ metadata: { name }, spec: { mount: { ref } } });
      await waitForObject(workspaces, name, ({ status }) => (status?.phase === "Ready" ? true : undefined));
    }),
  );
}
