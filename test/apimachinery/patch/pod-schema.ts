// The part of core/v1 Pod and apps/v1 Deployment that strategic merge patches are tested on, with the keywords of Kubernetes'
// OpenAPI.
import type { JsonSchema } from "@virtual-workspaces/apimachinery";

const text: JsonSchema = { type: "string" };
const texts: JsonSchema = { type: "array", items: text };
const textMap: JsonSchema = { type: "object", additionalProperties: text };

const object = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({ type: "object", properties });

/** Returns a merged list whose items are identified by `mergeKey`; one of scalars without a key. */
function merged(items: JsonSchema, mergeKey?: string, strategy = "merge"): JsonSchema {
  const key = mergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": mergeKey };
  return { type: "array", items, "x-kubernetes-patch-strategy": strategy, ...key };
}

const container = object({
  name: text,
  image: text,
  args: texts,
  env: merged(object({ name: text, value: text }), "name"),
  ports: merged(object({ containerPort: { type: "integer" }, protocol: text, name: text }), "containerPort"),
  resources: object({ limits: textMap, requests: textMap }),
});

const podSpec = object({
  containers: merged(container, "name"),
  volumes: merged(
    object({ name: text, emptyDir: object({ medium: text }), hostPath: object({ path: text }) }),
    "name",
    "merge,retainKeys",
  ),
  tolerations: { type: "array", items: object({ key: text, value: text }) },
  nodeSelector: textMap,
  nodeName: text,
});

const metadata = object({
  name: text,
  labels: textMap,
  finalizers: merged(text),
  ownerReferences: merged(object({ uid: text, name: text }), "uid"),
});

export const podSchema: JsonSchema = object({ metadata, spec: podSpec });

export const deploymentSchema: JsonSchema = object({
  metadata,
  spec: object({
    replicas: { type: "integer" },
    strategy: {
      ...object({ type: text, rollingUpdate: object({ maxSurge: text, maxUnavailable: text }) }),
      "x-kubernetes-patch-strategy": "retainKeys",
    },
    template: object({ metadata, spec: podSpec }),
  }),
});
