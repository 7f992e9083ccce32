/** A kind that a workspace defines. */
export const widgets = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.dev" },
  spec: {
    group: "example.dev",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wi"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                description: "What is wanted.",
                properties: { size: { type: "integer", description: "How large." } },
              },
            },
          },
        },
      },
    ],
  },
};
