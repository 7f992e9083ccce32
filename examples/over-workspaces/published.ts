// A view over workspaces: of each workspace the ConfigMaps that are labelled published=yes, for whoever may read ConfigMaps
// there. Label one, and it appears in open watches; take the label away, and it is gone.

import { defineResource, defineVirtualWorkspace, type VirtualWorkspace, view } from "@virtual-workspaces/framework";
import { forward, subjectAccessReview, type Workspaces } from "@virtual-workspaces/workspaces";

const text = { type: "object", additionalProperties: { type: "string" } } as const;
const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  shortNames: ["cm"],
  schema: { type: "object", properties: { data: text, binaryData: text, immutable: { type: "boolean" } } },
});

/** Called with the workspaces of whoever runs it: `virtual-workspaces start --view`, or `serve --kubeconfig`. */
export default function published({ upstream, identity }: Workspaces): VirtualWorkspace {
  const configMaps = forward({ resource: ConfigMap, upstream, identity });
  const access = subjectAccessReview<{ readonly cluster: string }>({ upstream });
  return defineVirtualWorkspace({
    name: "published",
    path: "/clusters/:cluster",
    authorize: access, // what the workspace lets the caller do to its ConfigMaps, they may do here
    ready: configMaps.ready,
    setup: () => configMaps,
    resources: [
      ConfigMap.serve(view({ from: configMaps, select: ({ metadata }) => metadata.labels?.["published"] === "yes" })),
    ],
  });
}
