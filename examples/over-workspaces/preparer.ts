// A provider's controller that nobody waits for: it greets workspaces of the type `greeted`, and of types that extend it, once they
// are there. Were it an initializer, none would get Ready while it is away. It runs as whoever may `prepare` the type:
//
//   virtual-workspaces manifests examples/over-workspaces/preparer.ts | kubectl apply -f -
//   KUBECONFIG=provider.kubeconfig node examples/over-workspaces/preparer.ts
import { once } from "node:events";
import {
  Client,
  type ClientOptions,
  controller,
  endpointInformers,
  Informer,
  type KindReference,
  LogicalCluster,
  loadKubeconfig,
  type Manifests,
  WorkspaceType,
} from "@virtual-workspaces/workspaces";

const maps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" } as const;
const ConfigMap: KindReference<{ readonly data?: Readonly<Record<string, string>> }> = maps;

/** What the provider's workspace needs: the type. */
export const manifests: Manifests = [
  {
    apiVersion: "tenancy.kcp.io/v1alpha1",
    kind: "WorkspaceType",
    metadata: { name: "greeted", annotations: { "virtual-workspaces.io/prepares": "true" } },
    spec: {
      extend: { with: [{ name: "universal", path: "root" }] },
      initializerPermissions: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] }],
    },
  },
];

/** Prepares what there is and what comes, on all shards, until it is disposed of. */
export function preparer(
  config: ClientOptions & { readonly upstream: { readonly url: string } },
  onError: (failure: { readonly error: unknown }) => void,
): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const provider = stack.use(new Client(config));
  const shards = stack.use(
    endpointInformers({
      resource: provider.resource(WorkspaceType),
      name: "greeted",
      urls: ({ status }) =>
        (status?.virtualWorkspaces ?? []).flatMap(({ type, url }) => (type === "initializing" ? [url] : [])),
      // All that tells it from an initializer.
      rewrite: (url) => url.replace("/initializingworkspaces/", "/preparingworkspaces/"),
      connect: (url) => ({ ...config, upstream: { ...config.upstream, url }, cluster: "*" }),
      informers: { clusters: ({ client }) => new Informer({ resource: client.resource(LogicalCluster) }).start() },
      onError,
    }),
  );
  const { clusters } = shards.sources;
  stack.use(
    controller({
      name: "preparer",
      sources: [{ informer: clusters }],
      reconcile: async (key, { object: found, signal }) => {
        const client = clusters.endpointOf(key)?.client.cluster(key.cluster);
        if (found === undefined || client === undefined) return;
        const greeting = { metadata: { name: "welcome" }, data: { from: "the provider" } };
        await client.resource(ConfigMap).in("default").apply(greeting, { force: true, signal });
        const { resourceVersion } = found.metadata;
        const done = { metadata: { resourceVersion }, status: { initializers: [] } };
        await client.resource(LogicalCluster).status.mergePatch(key.name, done, { signal });
      },
      onError,
    }),
  );
  return stack;
}

if (import.meta.main) {
  await using _running = preparer(await loadKubeconfig(), ({ error }) => console.error(String(error)));
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
}
