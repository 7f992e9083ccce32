// Bring your own API, as kcp's documents on mounts have it: a RemoteCluster in `root` says where a cluster is, and workspaces of `root` are
// mounted on it by `spec.mount.ref`. The controller here says when it can be had (`status.URL`, `status.phase`), and the view at that URL
// passes on what only reads, and no Secrets. What must be installed: virtual-workspaces manifests.

import { defineResource, defineVirtualWorkspace, deny, type RawRequest } from "@virtual-workspaces/framework";
import { Targets } from "@virtual-workspaces/framework/proxy";
import {
  ApiError,
  Client,
  controller,
  crdManifest,
  Informer,
  isApiError,
  type Manifests,
  type Relay,
  relay,
  Shard,
  subjectAccessReview,
  viewURL,
  type Workspaces,
} from "@virtual-workspaces/workspaces";

const RemoteCluster = defineResource({
  ...{ group: "example.io", version: "v1alpha1", kind: "RemoteCluster", scope: "Cluster" },
  spec: {
    type: "object",
    required: ["endpoint"],
    properties: { endpoint: { type: "string", maxLength: 2048, pattern: "^https?://[^/@]+(/.*)?$" } },
  },
  status: { type: "object", properties: { URL: { type: "string" }, phase: { type: "string" } } },
  columns: { Endpoint: ".spec.endpoint", Phase: ".status.phase" },
});

export const manifests: Manifests = [crdManifest(RemoteCluster)];

const view = "remote-clusters";
const kind = { group: "example.io", resource: "remoteclusters" };
const reads: ReadonlySet<string> = new Set(["get", "list", "watch"]);
type Named = { readonly name: string };

/** Called with the workspaces of the shard that has `root`. */
export default function byoMount({ upstream, shard = "root", everywhere = upstream }: Workspaces) {
  const root = new Client({ upstream: everywhere }).cluster("root");
  const clusters = root.resource(RemoteCluster);
  const informer = new Informer({
    resource: clusters,
    onError: (error) => {
      const isMissing = isApiError(error.cause) && error.cause.code === 404; // its kind is installed later
      if (!isMissing) process.emitWarning(error.message);
    },
  });
  const targets = new Targets<Relay>({ isActive: (one) => one.upstream.stats.active > 0 });
  const to = (name: string, url: string): Relay =>
    targets.of(name, url, () =>
      relay({
        ...{ upstream: { url }, identity: "none", path: ({ tail }) => tail, what: name },
        onError: () => undefined, // the phase says so
      }),
    );
  const asked = ({ params: { name } }: RawRequest<Named>): Relay => {
    const found = informer.store.get({ cluster: "root", namespace: "", name });
    if (found === undefined) throw ApiError.notFound(kind, name);
    return to(name, found.spec.endpoint);
  };
  const mayGet = subjectAccessReview<Named>({
    ...{ upstream: everywhere, cluster: () => "root" },
    attributes: ({ params }) => ({ ...kind, verb: "get", name: params.name }),
  });
  const following = () =>
    controller({
      ...{ name: view, sources: [{ informer: informer.start() }] },
      reconcile: async ({ name }, { object, signal }) => {
        if (object === undefined) return targets.delete(name);
        const { upstream } = to(name, object.spec.endpoint);
        const { status } = await upstream.send({ path: "/readyz", signal }).catch(() => ({ status: 0 }));
        const { spec } = await root.resource(Shard).get(shard, { signal });
        const URL = viewURL(spec?.virtualWorkspaceURL ?? "", view, name);
        const phase = status === 200 ? "Ready" : "Connecting";
        if (object.status?.URL !== URL || object.status.phase !== phase)
          await clusters.status.mergePatch(name, { status: { URL, phase } }, { signal });
        return { requeueAfter: 5_000 };
      },
      onError: ({ error }) => process.emitWarning(`${view}: ${String(error)}`),
    });
  return defineVirtualWorkspace({
    ...{ name: view, path: "/:name", handleWhen: () => true },
    authorize: (question) =>
      reads.has(question.verb) && question.resource !== "secrets"
        ? mayGet(question)
        : deny("remote clusters are shown to read, without their Secrets"),
    handle: (req, res, request) => asked(request).handle(req, res, request),
    upgrade: (req, socket, request) => asked(request).upgrade(req, socket, request),
    setup: () => {
      const stack = new AsyncDisposableStack();
      for (const one of [targets, informer, following()]) stack.use(one);
      return stack;
    },
  });
}
