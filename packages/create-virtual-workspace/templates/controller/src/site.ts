// The API of the controller: `npm run manifests` prints its CustomResourceDefinition.
import { defineResource } from "@virtual-workspaces/framework";
import { crdManifest, type KindReference, type Manifests } from "@virtual-workspaces/workspaces";

// The schema is the type: { title: string }, and a status { page?: string; title?: string }
export const Site = defineResource({
  group: "my-view.example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  description: "A web site. Its page is in a ConfigMap.",
  spec: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", minLength: 1, maxLength: 100 } },
  },
  status: { type: "object", properties: { page: { type: "string" }, title: { type: "string" } } },
  columns: { Title: ".spec.title", Page: ".status.page" },
});

/** A kind of the server, with the fields that the controller uses. */
export const ConfigMap: KindReference<{ readonly data?: Readonly<Record<string, string>> }> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
};

export const manifests: Manifests = [crdManifest(Site)];
