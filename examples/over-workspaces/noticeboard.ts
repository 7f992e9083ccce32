// A view that says where it is: each shard writes its URL into the status of every Noticeboard in `root`, and clients follow these
// URLs. On a board are the ConfigMaps of all workspaces that are labelled published=yes: the label is the workspace's consent, the
// permission to read `noticeboards/content` in `root` the board's. What must be installed: virtual-workspaces manifests.

import { defineResource, defineVirtualWorkspace, type VirtualWorkspace, view } from "@virtual-workspaces/framework";
import {
  Client,
  crdManifest,
  forward,
  isApiError,
  type Manifests,
  publishURLs,
  subjectAccessReview,
  viewURL,
  type Workspaces,
} from "@virtual-workspaces/workspaces";

const text = { type: "object", additionalProperties: { type: "string" } } as const;
const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: text } },
});
const Noticeboard = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Noticeboard",
  scope: "Cluster",
  spec: { type: "object", properties: { about: { type: "string" } } },
  status: {
    type: "object",
    properties: {
      endpoints: {
        type: "array",
        items: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["url"],
      },
    },
  },
});

export const manifests: Manifests = [crdManifest(Noticeboard)];

/** Called with the workspaces of each shard. */
export default function noticeboard({ upstream, shard = "root", everywhere = upstream }: Workspaces): VirtualWorkspace {
  const configMaps = forward({ resource: ConfigMap, upstream, identity: "none" });
  const access = subjectAccessReview<{ readonly board: string; readonly cluster: string }>({
    upstream: everywhere,
    cluster: () => "root",
    attributes: ({ verb, params }) => ({
      ...{ group: "example.dev", version: "v1", resource: "noticeboards", subresource: "content" },
      ...{ verb, name: params.board },
    }),
  });
  return defineVirtualWorkspace({
    name: "noticeboard",
    path: "/:board/clusters/:cluster",
    wildcard: true,
    authorize: access,
    ready: configMaps.ready,
    setup: () => {
      const stack = new AsyncDisposableStack();
      stack.use(configMaps);
      stack.use(
        publishURLs({
          client: new Client({ upstream: everywhere }),
          resource: Noticeboard,
          cluster: "root",
          shards: shard,
          urls: ({ metadata }, [own]) =>
            own?.spec?.virtualWorkspaceURL === undefined
              ? undefined
              : [viewURL(own.spec.virtualWorkspaceURL, "noticeboard", metadata.name ?? "")],
          onError: ({ error, retryAfter = 0 }) => {
            // It is 404 until the kind is installed, and what does not last need not be told.
            const isMissing = isApiError(error) && error.code === 404;
            if (retryAfter > 5_000 && !isMissing) process.emitWarning(`noticeboard: ${String(error)}`);
          },
        }),
      );
      return stack;
    },
    resources: [
      ConfigMap.serve(view({ from: configMaps, select: ({ metadata }) => metadata.labels?.["published"] === "yes" }), {
        verbs: ["get", "list", "watch"],
      }),
    ],
  });
}
