// Form for a CustomResourceDefinition.

/** Properties that differ from the defaults. */
export interface CrdForm {
  /** API group. @default example.dev */
  readonly group?: string;
  /** Scope of the kind. @default Namespaced */
  readonly scope?: "Cluster" | "Namespaced";
  /** Schemas of the properties besides metadata. @default none */
  readonly properties?: Readonly<Record<string, object>>;
  /** More fields of the version. */
  readonly version?: object;
  /** More fields of the spec. */
  readonly spec?: object;
}

/** Defines a kind with the version `v1`. Its plural is the kind in lower case with an s. */
export function crd(kind: string, { group = "example.dev", scope, properties, version, spec }: CrdForm = {}): object {
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: "object", ...(properties && { properties }) };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: scope ?? "Namespaced",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      ...spec,
    },
  };
}
