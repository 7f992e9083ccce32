// Valid definition, which tests change.
export type Json = { [name: string]: unknown };

const SCHEMA = {
  type: "object",
  properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
};

export function version(more: Json = {}): Json {
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA }, ...more };
}

/** Returns a valid definition, with the given spec, names and metadata. */
export function definition({
  spec = {},
  names = {},
  metadata = {},
}: {
  spec?: Json;
  names?: Json;
  metadata?: Json;
} = {}): Json {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev", ...metadata },
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", ...names },
      versions: [version()],
      ...spec,
    },
  };
}

/** Returns one version with additional fields. */
export function withVersion(more: Json): Json {
  return definition({ spec: { versions: [version(more)] } });
}

/** Definition, with the operation to try and, for an update, the previous definition. */
export interface CrdCase {
  readonly name: string;
  readonly crd: Json;
  /** Created first; `crd` then replaces it. */
  readonly before?: Json;
}
