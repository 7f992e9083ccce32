// A provider's controller. Workspaces that bind the export `sites` make Sites; beside each the controller puts its page, a
// ConfigMap, says so in the status, and takes the page away before the Site goes. It runs as a service account of the provider:
//
//   virtual-workspaces manifests examples/controller.ts | kubectl apply -f -
//   KUBECONFIG=sites.kubeconfig node examples/controller.ts
import { once } from "node:events";
import { defineResource } from "@virtual-workspaces/framework";
import {
  APIExportEndpointSlice,
  Client,
  controller,
  endpointInformers,
  exportManifests,
  Informer,
  isApiError,
  type KindReference,
  loadKubeconfig,
  type Manifests,
  related,
} from "@virtual-workspaces/workspaces";

const [group, version, scope, PAGE] = ["sites.example.dev", "v1", "Namespaced", "sites.example.dev/page"] as const;
const text = { type: "string", maxLength: 100 } as const;
const Site = defineResource({
  ...{ group, version, kind: "Site", scope },
  spec: { type: "object", required: ["title"], properties: { title: text } },
  status: { type: "object", properties: { phase: text, title: text } },
  columns: { Title: ".spec.title", Phase: ".status.phase" },
});
const maps = { group: "", version, kind: "ConfigMap", plural: "configmaps", scope };
const ConfigMap: KindReference<{ readonly data?: Readonly<Record<string, string>> }> = maps;
const account = { kind: "ServiceAccount", name: "sites", namespace: "default" } as const;
const permissionClaims = [{ group: "", resource: "configmaps", verbs: ["*"] }];

/** What the provider's workspace needs. */
export const manifests: Manifests = [
  { apiVersion: "v1", kind: account.kind, metadata: { name: account.name, namespace: account.namespace } },
  ...exportManifests({ name: "sites", resources: [Site], permissionClaims, mayUse: [account] }),
];

const unlessGone = (error: unknown) => (isApiError(error) && error.code === 404 ? undefined : Promise.reject(error));

if (import.meta.main) {
  const config = await loadKubeconfig();
  await using provider = new Client(config);
  const onError = ({ error }: { readonly error: unknown }): void => console.error(String(error));
  // Informers of each shard on which a workspace has bound the export: shards come and go.
  await using shards = endpointInformers({
    resource: provider.resource(APIExportEndpointSlice),
    name: "sites",
    connect: (url) => ({ ...config, upstream: { ...config.upstream, url }, cluster: "*" }),
    informers: {
      sites: ({ client }) => new Informer({ resource: client.resource(Site) }).start(),
      pages: ({ client }) => new Informer({ resource: client.resource(ConfigMap), labels: PAGE }).start(),
    },
    onError,
  });
  const { sites, pages } = shards.sources;
  await using _running = controller({
    name: "sites",
    sources: [{ informer: sites }, related(pages, (_, key) => key)],
    // Does what is to be done next; what that changes is a reason to be called again.
    reconcile: async (key, { object: site, signal }) => {
      const client = sites.endpointOf(key)?.client.cluster(key.cluster);
      if (site === undefined || client === undefined) return;
      const own = client.resource(Site).in(key.namespace);
      const maps = client.resource(ConfigMap).in(key.namespace);
      const page = pages.store.get(key);
      const { title } = site.spec;
      const [name, status] = [key.name, { phase: "Ready", title }];
      const { resourceVersion, deletionTimestamp, finalizers = [] } = site.metadata;
      // With the version that was read: whoever was faster makes this a conflict, which is tried again.
      const hold = (by: string[]) =>
        own.mergePatch(name, { metadata: { resourceVersion, finalizers: by } }, { signal });
      if (deletionTimestamp !== undefined) {
        if (!finalizers.includes(PAGE)) return;
        await maps.deleteCollection({ fields: `metadata.name=${name}`, labels: PAGE, signal });
        await hold(finalizers.filter((one) => one !== PAGE)).catch(unlessGone);
      } else if (!finalizers.includes(PAGE)) await hold([...finalizers, PAGE]);
      else if (page?.data?.["title"] !== title)
        await maps.apply({ metadata: { name, labels: { [PAGE]: "" } }, data: { title } }, { force: true, signal });
      else if (site.status?.title !== title)
        await own.status.mergePatch(name, { metadata: { resourceVersion }, status }, { signal });
    },
    onError,
  });
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
}
