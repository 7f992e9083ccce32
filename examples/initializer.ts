// A controller of whoever has made a workspace type. Workspaces of the type `team` are Ready once they have a handbook, which all may
// read who may come in; of those that are deleted, the handbook is kept in the workspace of the type. It runs as a service account there:
//
//   virtual-workspaces manifests examples/initializer.ts | kubectl apply -f -
//   KUBECONFIG=teams.kubeconfig node examples/initializer.ts
import { once } from "node:events";
import {
  Client,
  isApiError,
  type KindReference,
  lifecycleController,
  loadKubeconfig,
  type Manifests,
  WorkspaceType,
} from "@virtual-workspaces/workspaces";

const [type, book, namespace, rbac] = ["team", "handbook", "team", "rbac.authorization.k8s.io"] as const;
const core = { group: "", version: "v1", scope: "Namespaced" } as const;
const Namespace: KindReference = { ...core, kind: "Namespace", plural: "namespaces", scope: "Cluster" };
const maps = { ...core, kind: "ConfigMap", plural: "configmaps" };
const ConfigMap: KindReference<{ readonly data?: Readonly<Record<string, string>> }> = maps;
const RoleBinding: KindReference<object> = { ...core, group: rbac, kind: "RoleBinding", plural: "rolebindings" };
const view = { apiGroup: rbac, kind: "ClusterRole", name: "view" };
const everybody = { apiGroup: rbac, kind: "Group", name: "system:authenticated" };

const account = { kind: "ServiceAccount", name: "teams", namespace: "default" } as const;
const typed = { apiVersion: `${WorkspaceType.group}/${WorkspaceType.version}`, kind: WorkspaceType.kind };
const types = { apiGroups: [WorkspaceType.group], resources: [WorkspaceType.plural], resourceNames: [type] };
const write = { apiGroups: [""], resources: ["namespaces", "configmaps"], verbs: ["create", "patch"] };
const bind = { apiGroups: [rbac], resources: ["rolebindings"], verbs: ["create", "patch"] };
const read = { apiGroups: [""], resources: ["configmaps"], resourceNames: [book], verbs: ["get"] };
const role = (name: string, verbs: readonly string[], ...rules: readonly object[]) => ({
  ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name } },
  rules: [{ ...types, verbs }, ...rules],
});
const binding = (name: string, subject: object) => ({
  ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata: { name } },
  ...{ roleRef: { ...view, name }, subjects: [subject] },
});

/** What the workspace of the type needs. */
export const manifests: Manifests = [
  { apiVersion: "v1", kind: account.kind, metadata: { name: account.name, namespace: account.namespace } },
  {
    ...{ ...typed, metadata: { name: type } },
    spec: {
      ...{ initializer: true, terminator: true, extend: { with: [{ path: "root", name: "universal" }] } },
      ...{ initializerPermissions: [write, bind], terminatorPermissions: [read] },
    },
  } as WorkspaceType,
  ...[role("teams", ["get", "list", "watch", "initialize", "terminate"], write), binding("teams", account)],
  ...[role("team-use", ["use"]), binding("team-use", everybody)],
];

const unlessGone = (error: unknown) => (isApiError(error) && error.code === 404 ? undefined : Promise.reject(error));

if (import.meta.main) {
  const config = await loadKubeconfig();
  await using own = new Client(config);
  await using _running = lifecycleController({
    ...{ client: own, type, connect: (url) => ({ ...config, upstream: { ...config.upstream, url } }) },
    // Each step comes to the same when it is done again: this may be killed, and another one of it run beside.
    initialize: async ({ client, path, signal }) => {
      const options = { force: true, signal };
      await client.resource(Namespace).apply({ metadata: { name: namespace } }, options);
      await client
        .resource(ConfigMap)
        .apply({ metadata: { name: book, namespace }, data: { workspace: path } }, options);
      const readers = { metadata: { name: "readers", namespace }, roleRef: view, subjects: [everybody] };
      await client.resource(RoleBinding).apply(readers, options);
    },
    // What a workspace has is there until this is done; but kcp 0.32 deletes it meanwhile, so here it may be gone.
    terminate: async ({ client, path, cluster, signal }) => {
      const metadata = { name: `${type}-${cluster}`, namespace: "default" };
      const keep = (data: Readonly<Record<string, string>>, fieldManager: string) =>
        own.resource(ConfigMap).apply({ metadata, data }, { force: true, signal, fieldManager });
      await keep({ workspace: path }, type);
      const found = await client.resource(ConfigMap).in(namespace).get(book, { signal }).catch(unlessGone);
      if (found?.data !== undefined) await keep(found.data, book);
    },
    onError: ({ error }) => console.error(String(error)),
  });
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
}
