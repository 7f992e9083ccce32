// A CustomResourceDefinition as people write them.

/** What is not as in most of them. */
export interface CrdForm {
  /** @default example.dev */
  readonly group?: string;
  /** @default Namespaced */
  readonly scope?: "Cluster" | "Namespaced";
  /** The schemas of what objects hold besides metadata. @default they hold nothing */
  readonly properties?: Readonly<Record<string, object>>;
  /** What its version has besides. */
  readonly version?: object;
  /** What it says besides. */
  readonly spec?: object;
}

/** Defines a kind in the version `v1`; its plural is the kind in lower case and an s. */
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
