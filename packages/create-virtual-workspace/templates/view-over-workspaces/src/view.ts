// A view over workspaces: it shows the ConfigMaps of a workspace that have the label published=yes, to those who may read them there.
import { defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";
import { forward, subjectAccessReview, type Workspaces } from "@virtual-workspaces/workspaces";

export const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  shortNames: ["cm"],
  schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
});

/** Called with the server that has the workspaces. */
export default ({ upstream, identity }: Workspaces) => {
  // Reads on behalf of the caller.
  const configMaps = forward({ resource: ConfigMap, upstream, identity });
  return defineVirtualWorkspace({
    name: "my-view", // served below /services/my-view/clusters/<workspace>
    path: "/clusters/:cluster",
    // The workspace decides who may read: this asks it with a SubjectAccessReview.
    authorize: subjectAccessReview<{ readonly cluster: string }>({ upstream }),
    ready: configMaps.ready,
    setup: () => configMaps,
    resources: [
      ConfigMap.serve(view({ from: configMaps, select: ({ metadata }) => metadata.labels?.["published"] === "yes" })),
    ],
  });
};
