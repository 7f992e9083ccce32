import { apiVersionOf, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { compareVersionPriority } from "@virtual-workspaces/apimachinery/discovery";
import { AGE_COLUMN, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;
type Version = Spec["versions"][number];

/** Everything that a server needs to serve one version of an APIResourceSchema, with the names of `defineResource`'s options. */
export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Schema without `apiVersion` and `kind`, and without a `metadata` that adds no rule. */
  readonly schema: JsonSchema;
  /** Table columns, without the name. */
  readonly columns: readonly TableColumn[];
  readonly selectableFields: readonly string[];
  readonly subresources: {
    readonly status: boolean;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  /** Whether the server serves this version to clients. */
  readonly served: boolean;
  /** Whether this is the storage version. */
  readonly storage: boolean;
  /** Warning for clients that use the version, if it is deprecated. */
  readonly warning?: string;
}

/** Returns the served versions of an APIResourceSchema and its storage version, in their order. */
export function servedVersions({ spec }: APIResourceSchema): ServedVersion[] {
  if (spec === undefined) return [];
  const wanted = spec.versions.filter(({ served, storage }) => served || storage);
  return wanted.map((version) => servedVersion(spec, version));
}

function servedVersion(spec: Spec, version: Version): ServedVersion {
  const { group, names, scope } = spec;
  const { additionalPrinterColumns = [], selectableFields = [], subresources } = version;
  const { kind, plural } = names;
  const warning = warningOf(spec, version);
  return {
    group,
    version: version.name,
    kind,
    listKind: names.listKind ?? `${kind}List`,
    plural,
    singular: names.singular ?? kind.toLowerCase(),
    scope,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    schema: contentSchema(version.schema as JsonSchema),
    columns: additionalPrinterColumns.length === 0 ? [AGE_COLUMN] : (additionalPrinterColumns as TableColumn[]),
    selectableFields: selectableFields.map(({ jsonPath }) => jsonPath),
    subresources: {
      status: subresources?.status !== undefined,
      ...(subresources?.scale && { scale: subresources.scale }),
    },
    served: version.served,
    storage: version.storage,
    ...(warning === undefined ? {} : { warning }),
  };
}

/** Returns Kubernetes' warning, which recommends the best version to use instead. */
function warningOf(
  { group, names: { kind }, versions }: Spec,
  { name, deprecated, deprecationWarning }: Version,
): string | undefined {
  if (deprecated !== true) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const [better] = versions
    .filter((other) => other.served && other.deprecated !== true && compareVersionPriority(other.name, name) < 0)
    .sort((a, b) => compareVersionPriority(a.name, b.name));
  const instead = better === undefined ? "" : `; use ${apiVersionOf({ group, version: better.name })} ${kind}`;
  return `${apiVersionOf({ group, version: name })} ${kind} is deprecated${instead}`;
}

/** Removes the type and metadata, which every object has. Only rules for names in `metadata` stay. */
function contentSchema({ properties, ...schema }: JsonSchema): JsonSchema {
  if (properties === undefined) return schema;
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = properties;
  const saysMore = metadata?.properties !== undefined || metadata?.["x-kubernetes-validations"] !== undefined;
  return { ...schema, properties: saysMore ? { metadata, ...content } : content };
}
