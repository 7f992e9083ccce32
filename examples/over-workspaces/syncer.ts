// What agents see that run things elsewhere, in clusters or machines of their own: of all workspaces the Workloads that are
// labelled for them, and of these they may write the status. An agent needs leave for `agents/content` of its name in `root`, and
// the workspaces know none of them. Workspaces bind the export `workloads` of `root`: virtual-workspaces manifests.
//
// Run by itself, this is such an agent: node syncer.ts https://…/services/syncer/east
import { once } from "node:events";
import {
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import {
  APIExport,
  Client,
  controller,
  exportManifests,
  forward,
  Informer,
  loadKubeconfig,
  type Manifests,
  subjectAccessReview,
  type Workspaces,
} from "@virtual-workspaces/workspaces";

const group = "example.dev";
const Workload = defineResource({
  ...{ group, version: "v1", kind: "Workload", scope: "Namespaced" },
  spec: { type: "object", required: ["image"], properties: { image: { type: "string" } } },
  status: { type: "object", properties: { phase: { type: "string" }, image: { type: "string" } } },
  columns: { Image: ".spec.image", Phase: ".status.phase" },
});
/** By which a workspace says whose an object is. */
const AGENT = `${group}/agent`;

export const manifests: Manifests = exportManifests({ name: "workloads", resources: [Workload] });

/** Called with the workspaces of each shard. */
export default function syncer({ upstream, everywhere = upstream }: Workspaces): VirtualWorkspace {
  const root = new Client({ upstream: everywhere, cluster: "root" });
  // Objects of many workspaces are asked for by the identity of their export.
  const exported = new Informer({ resource: root.resource(APIExport), fields: "metadata.name=workloads" });
  const stack = new AsyncDisposableStack();
  let identity = "";
  let served: readonly ServedResource[] = [];
  const serve = ({ status }: { readonly status?: { readonly identityHash?: string } }): void => {
    if (status?.identityHash === undefined || status.identityHash === identity) return;
    identity = status.identityHash;
    const [resource, resourceIdentity] = [Workload, identity];
    const workloads = forward({ resource, upstream, identity: "none", resourceIdentity, unserved: "empty" });
    stack.use(workloads);
    const labelled = view({
      from: workloads,
      varyBy: ({ params }) => params["agent"],
      select: ({ metadata }, { variant }) => metadata.labels?.[AGENT] === variant,
      mapToSource: (workload) => workload, // its status: nothing else of it can be written here
    });
    served = [Workload.serve(labelled, { verbs: ["get", "list", "watch"], statusVerbs: ["get", "update", "patch"] })];
  };
  exported.on({ added: serve, updated: serve });
  return defineVirtualWorkspace({
    name: "syncer",
    path: "/:agent/clusters/:cluster",
    wildcard: true,
    authorize: subjectAccessReview<{ readonly agent: string; readonly cluster: string }>({
      upstream: everywhere,
      cluster: () => "root",
      attributes: ({ verb, params: { agent: name } }) => ({
        ...{ group, version: "v1", resource: "agents", subresource: "content", verb, name },
      }),
    }),
    ready: () => exported.synced,
    setup: ({ signal }) => {
      exported.start(signal);
      return stack;
    },
    resources: () => served,
  });
}

if (import.meta.main) {
  const { upstream } = await loadKubeconfig();
  const [, , url = ""] = process.argv;
  await using client = new Client({ upstream: { ...upstream, url } });
  await using informer = new Informer({ resource: client.cluster("*").resource(Workload) }).start();
  await using _running = controller({
    name: "agent",
    sources: [{ informer }],
    // Where a program would start or stop something of its own.
    reconcile: async ({ cluster, namespace, name }, { object, signal }) => {
      if (object === undefined) return console.log(name, "stops");
      if (object.status?.image === object.spec.image) return;
      console.log(name, "runs", object.spec.image);
      const workloads = client.cluster(cluster).resource(Workload).in(namespace);
      await workloads.status.mergePatch(name, { status: { phase: "Running", image: object.spec.image } }, { signal });
    },
    onError: ({ error }) => console.error(String(error)),
  });
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
}
