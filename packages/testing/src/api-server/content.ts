import { type KubeObject, parseApiVersion } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { LOGICAL_CLUSTER_NAME, LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { AUTHENTICATED_GROUP, WORKSPACE_ACCESS_GROUP } from "@virtual-workspaces/kcp/users";
import {
  applyManifests,
  ClusterRoleBinding,
  ConfigMap,
  Namespace,
  ServiceAccount,
} from "@virtual-workspaces/workspace-server";
import { newName } from "./snapshot.ts";

/** Content of a new state. */
export interface Content {
  readonly crds: readonly KubeObject[];
  readonly objects: readonly KubeObject[];
}

const RBAC = "rbac.authorization.k8s.io";

/** Namespaces of a new cluster, as in Kubernetes. */
const NAMESPACES: readonly string[] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/**
 * Creates a logical cluster of no workspace, with the namespaces of a Kubernetes cluster and the content.
 *
 * @param server client of the server, as a member of `system:masters`
 * @returns the name of the logical cluster
 * @throws as {@link fill}
 */
export async function newCluster(server: Client, content: Content): Promise<string> {
  const name = newName();
  const cluster = server.cluster(name);
  await cluster.resource(LogicalCluster).create({ metadata: { name: LOGICAL_CLUSTER_NAME } });
  await Promise.all([
    becomesReady(cluster.resource(LogicalCluster), LOGICAL_CLUSTER_NAME),
    // Lets all users enter the logical cluster: without it kcp's own check would precede their roles.
    cluster.resource(ClusterRoleBinding).create({
      metadata: { name: "test-server-access" },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: WORKSPACE_ACCESS_GROUP },
      subjects: [{ apiGroup: RBAC, kind: "Group", name: AUTHENTICATED_GROUP }],
    }),
    ...NAMESPACES.map((namespace) => cluster.resource(Namespace).create({ metadata: { name: namespace } })),
  ]);
  await fill(cluster, content);
  await hasDefaults(cluster);
  return name;
}

/** Waits for the objects that controllers create in each namespace, so that a state does not change by itself. */
async function hasDefaults(cluster: Client): Promise<void> {
  const { items } = await cluster.resource(Namespace).all();
  const namespaces = items.map(({ metadata }) => metadata.name);
  await existsIn(namespaces, cluster.resource(ServiceAccount), "default");
  await existsIn(namespaces, cluster.resource(ConfigMap), "kube-root-ca.crt");
}

async function existsIn(namespaces: readonly string[], resource: Watched, name: string): Promise<void> {
  const missing = new Set(namespaces);
  const options = { fields: `metadata.name=${name}`, signal: AbortSignal.timeout(READY_WITHIN) };
  for await (const { object } of resource.watch(options)) {
    missing.delete((object as KubeObject).metadata.namespace ?? "");
    if (missing.size === 0) return;
  }
}

/** Creates workspaces, parents first, and waits until each is ready. @throws Error when a parent is missing; ApiError */
export async function createWorkspaces(server: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const [, parent, name] = /^(root(?::[^:]+)*):([^:]+)$/.exec(path) ?? [];
    if (parent === undefined || name === undefined)
      throw new Error(`workspaces: invalid path ${JSON.stringify(path)}: use a path below root, such as root:org`);
    const workspaces = server.cluster(parent).resource(Workspace);
    await workspaces.create({ metadata: { name } });
    await becomesReady(workspaces, name);
  }
}

/**
 * Applies the content in a workspace.
 *
 * @throws Error on a kind that the workspace does not serve, with the kind; ApiError on an object that it rejects
 */
export async function fill(workspace: Client, { crds, objects }: Content): Promise<void> {
  if (crds.length + objects.length === 0) return;
  const isNamespace = ({ kind, apiVersion }: KubeObject): boolean => kind === Namespace.kind && apiVersion === "v1";
  await applyManifests(workspace, crds);
  await applyManifests(workspace, [
    ...objects.filter(isNamespace),
    ...objects.filter((object) => !isNamespace(object)),
  ]);
  for (const object of objects) if ("status" in object) await applyStatus(workspace, object);
}

async function applyStatus(workspace: Client, object: KubeObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const found = await workspace.discovery().find({ ...parseApiVersion(apiVersion), kind });
  if (found?.subresources.includes("status") !== true) return;
  const { status } = object as KubeObject & { readonly status?: unknown };
  const resource = workspace.resource(found);
  const within = metadata.namespace === undefined ? resource : resource.in(metadata.namespace);
  await within.status.mergePatch(metadata.name ?? "", { status: status as never });
}

interface Watched {
  watch: (options: {
    readonly fields: string;
    readonly signal: AbortSignal;
  }) => AsyncIterable<{ readonly type: string; readonly object: unknown }>;
}

/** Time limit for a logical cluster to become ready, ms. */
const READY_WITHIN = 30_000;

async function becomesReady(resource: Watched, name: string): Promise<void> {
  const options = { fields: `metadata.name=${name}`, signal: AbortSignal.timeout(READY_WITHIN) };
  for await (const { object } of resource.watch(options)) {
    const { status } = object as { readonly status?: { readonly phase?: string } };
    if (status?.phase === "Ready") return;
  }
  throw new Error(`${name} did not become ready: the server ended the watch: try again`);
}
