// A definition that is fine, to be changed.
export type Json = { [name: string]: unknown };

export const SCHEMA = { type: "object", properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } };

export function version(more: Json = {}): Json {
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA }, ...more };
}

/** A definition that is fine, with another spec, names and metadata where they are given. */
export function definition({ spec = {}, names = {}, metadata = {} }: { spec?: Json; names?: Json; metadata?: Json } = {}): Json {
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

/** One version, with more in it. */
export function withVersion(more: Json): Json {
  return definition({ spec: { versions: [version(more)] } });
}

/** A definition, what is to be done to it, and, of an update, what it was before. */
export interface CrdCase {
  readonly name: string;
  readonly crd: Json;
  /** Created first; `crd` then replaces it. */
  readonly before?: Json;
}
