// A view with a narrow credential, as kcp-operator gives one to a server: a user of one workspace, the provider's. It has the
// Items of all workspaces that have bound the export `inventory`, by the URLs in the export's endpoint slice, and shows them to
// callers who may read `stocks` in the provider's workspace. No rights in any other workspace, and no impersonation.
import { defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import {
  APIExportEndpointSlice,
  Client,
  clusterOf,
  endpointInformers,
  exportManifests,
  Informer,
  type Manifests,
  type Permissions,
  subjectAccessReview,
  type Workspaces,
} from "@virtual-workspaces/workspaces";

const group = "inventory.example.dev";
const name = "inventory";
const count = { type: "integer", minimum: 0 } as const;
const Item = defineResource({
  ...{ group, version: "v1", kind: "Item", scope: "Cluster" },
  spec: { type: "object", required: ["count"], properties: { count } },
});
const Stock = defineResource({
  ...{ group, version: "v1", kind: "Stock", scope: "Cluster" },
  spec: { type: "object", required: ["count"], properties: { count, workspace: { type: "string" } } },
  columns: { Workspace: ".spec.workspace", Count: ".spec.count" },
});

/** What the provider's workspace needs: `virtual-workspaces manifests`. */
export const manifests: Manifests = exportManifests({
  name,
  resources: [Item],
  mayBind: [{ kind: "Group", name: "system:authenticated", apiGroup: "rbac.authorization.k8s.io" }],
});

/** What the server's user needs there: `virtual-workspaces manifests --rbac`. */
export const permissions: Permissions = [
  { apiGroups: ["apis.kcp.io"], resources: ["apiexportendpointslices"], verbs: ["get", "list", "watch"] },
  {
    apiGroups: ["apis.kcp.io"],
    resources: ["apiexports/content"],
    resourceNames: [name],
    verbs: ["get", "list", "watch"],
  },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/** Called by `virtual-workspaces serve --kcp-views=false --view=inventory.ts`. */
export default function inventory({ upstream, workspace, connectionTo }: Workspaces): VirtualWorkspace {
  if (workspace === undefined || connectionTo === undefined)
    throw new Error("the URL of --kubeconfig must name the provider's workspace: https://<host>/clusters/<path>");
  const stocks = Stock.collection();
  const keyOf = (item: Parameters<typeof clusterOf>[0]) => `${item.metadata.name}.${clusterOf(item)}`;
  const put = (item: { readonly metadata: { readonly name?: string }; readonly spec: { readonly count: number } }) =>
    stocks.in("all").set(keyOf(item), { count: item.spec.count, workspace: clusterOf(item) });
  const synced = Promise.withResolvers<void>();
  return defineVirtualWorkspace({
    name,
    path: "/",
    // Callers who may read stocks in the provider's workspace: a ClusterRole there, and no kind of that name.
    authorize: subjectAccessReview({ upstream, cluster: () => workspace }),
    ready: () => synced.promise,
    setup: ({ signal, log }) => {
      const provider = new Client({ upstream, cluster: workspace });
      const followed = endpointInformers({
        ...{ resource: provider.resource(APIExportEndpointSlice), name, signal },
        connect: (url) => ({ upstream: connectionTo(url), cluster: "*" }),
        informers: { items: ({ client }) => new Informer({ resource: client.resource(Item) }).start() },
        // kcp, for one, sends lists without a version until it serves the kind that a first workspace has bound.
        onError: ({ error }) =>
          log({ level: "warn", message: "cannot read the items, trying again", error: String(error) }),
      });
      followed.sources.items.on({ added: put, updated: put, deleted: (item) => stocks.in("all").delete(keyOf(item)) });
      synced.resolve(followed.synced);
      return followed;
    },
    resources: [Stock.serve(stocks, { verbs: ["get", "list", "watch"] })],
  });
}
