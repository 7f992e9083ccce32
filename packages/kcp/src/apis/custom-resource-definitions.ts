import {
  ApiError,
  CLUSTER_ANNOTATION,
  fieldInvalid,
  fieldRequired,
  type JsonSchema,
  nameProblems,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { isComputed } from "@virtual-workspaces/apimachinery/tables";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import {
  BOUND_CRD_ANNOTATION,
  SCHEMA_CLUSTER_ANNOTATION,
  SCHEMA_NAME_ANNOTATION,
  VALIDATE_NAME_ANNOTATION,
} from "../names/annotations.ts";
import { BOUND_CRDS_CLUSTER } from "../names/names.ts";
import type { ResourceNames } from "./schema-validation.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;
type Version = Spec["versions"][number];

/** Fields of a CustomResourceDefinition that an APIResourceSchema has as well. */
export interface CustomResourceDefinitionLike {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly group: string;
    readonly names: ResourceNames;
    readonly scope: "Cluster" | "Namespaced";
    readonly versions: readonly CustomResourceVersion[];
    readonly conversion?: CustomResourceConversion | undefined;
  };
}

/** Version of a {@link CustomResourceDefinitionLike}. Its schema is one level deeper than in an APIResourceSchema. */
export interface CustomResourceVersion extends Omit<Version, "schema"> {
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema | undefined } | undefined;
}

/** Conversion of objects between versions. */
export interface CustomResourceConversion {
  readonly strategy: "None" | "Webhook";
  readonly webhook?:
    | {
        readonly clientConfig?:
          | {
              readonly url?: string | undefined;
              readonly caBundle?: string | undefined;
              readonly service?: object | undefined;
            }
          | undefined;
        readonly conversionReviewVersions: readonly string[];
      }
    | undefined;
}

/**
 * Returns the CustomResourceDefinition of a kind that is defined in code. Features that a CRD cannot express, such as columns that
 * a function computes, are left out.
 */
export function definitionOf(kind: ResourceDefinition): CustomResourceDefinitionLike {
  const { group, plural, singular, listKind, shortNames, categories, scope, version } = kind;
  return {
    metadata: { name: `${plural}.${group === "" ? "core" : group}` },
    spec: {
      group,
      names: {
        kind: kind.kind,
        listKind,
        plural,
        singular,
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      scope,
      versions: [{ name: version, served: true, storage: true, ...describedVersion(kind) }],
    },
  };
}

type Described = Omit<CustomResourceVersion, "name" | "served" | "storage">;

function describedVersion({ schema, columns, selectableFields, subresources }: ResourceDefinition): Described {
  const { status, scale } = subresources;
  const paths = columns.flatMap((column) => {
    const { advertisedType: _told, ...path } = column;
    return isComputed(column) ? [] : [path];
  });
  return {
    schema: { openAPIV3Schema: wholeSchema(schema) },
    ...(paths.length > 0 && { additionalPrinterColumns: paths }),
    ...(selectableFields.length > 0 && {
      selectableFields: selectableFields.map(({ name }) => ({ jsonPath: `.${name}` })),
    }),
    ...((status || scale) && { subresources: { ...(status && { status: {} }), ...(scale && { scale }) } }),
  } as Described;
}

/** Adds `apiVersion`, `kind` and `metadata`, which the schemas of CRDs contain. */
function wholeSchema(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema;
  const text = { type: "string" } as const;
  return {
    ...schema,
    properties: { apiVersion: text, kind: text, ...properties, metadata: properties["metadata"] ?? { type: "object" } },
  };
}

/**
 * Returns the APIResourceSchema of a CustomResourceDefinition, named `<prefix>.<name>` (`kubectl kcp crd snapshot`).
 *
 * @throws ApiError 422 on an invalid name, a version without a schema, several versions without a conversion, or a webhook without
 * a URL
 */
export function apiResourceSchemaOf(crd: CustomResourceDefinitionLike, prefix: string): APIResourceSchema {
  const { group, names, scope, versions, conversion } = crd.spec;
  const name = `${prefix}.${crd.metadata.name ?? ""}`;
  const why = nameProblems(name);
  if (why.length > 0) throw invalid(name, fieldInvalid("metadata.name", name, why.join(",")));
  if (versions.length > 1 && conversion === undefined)
    throw invalid(name, fieldRequired("spec.conversion", "multiple versions need a conversion strategy"));
  const spec = {
    group,
    names,
    scope,
    versions: versions.map((version, at) => versionOf(version, { name, path: `spec.versions[${at}]` })),
    ...(conversion && { conversion: conversionOf(conversion, name) }),
  };
  const { version, kind } = APIResourceSchema;
  return { apiVersion: `apis.kcp.io/${version}`, kind, metadata: { name }, spec: cloneJson(spec) as Spec };
}

function versionOf(
  { schema, ...version }: CustomResourceVersion,
  { name, path }: { readonly name: string; readonly path: string },
): Version {
  if (schema?.openAPIV3Schema === undefined) throw invalid(name, fieldRequired(`${path}.schema.openAPIV3Schema`));
  return { ...version, schema: { ...schema.openAPIV3Schema } };
}

function conversionOf({ strategy, webhook }: CustomResourceConversion, name: string): object {
  if (strategy !== "Webhook" || webhook === undefined) return { strategy };
  const { clientConfig, conversionReviewVersions } = webhook;
  const path = "spec.conversion.webhook.clientConfig";
  if (clientConfig?.service !== undefined)
    throw invalid(name, fieldInvalid(`${path}.service`, clientConfig.service, "services are not supported, use url"));
  if (clientConfig !== undefined && clientConfig.url === undefined) throw invalid(name, fieldRequired(`${path}.url`));
  const { url, caBundle } = clientConfig ?? {};
  const config = clientConfig && { clientConfig: { url, ...(caBundle === undefined ? {} : { caBundle }) } };
  return { strategy, webhook: { ...config, conversionReviewVersions } };
}

function invalid(name: string, cause: ReturnType<typeof fieldInvalid>): ApiError {
  return ApiError.invalid({ kind: APIResourceSchema, name, causes: [cause] });
}

const APPROVED_ANNOTATION = "api-approved.kubernetes.io";

/**
 * Returns the CustomResourceDefinition that serves an APIResourceSchema where it is bound. Its name is the schema's UID, its
 * annotations name the schema, and a single version has no conversion.
 *
 * @throws Error without a name, UID, cluster or spec, which every schema from a server has, and on several versions without a
 * conversion
 */
export function boundCrdOf({ metadata, spec }: APIResourceSchema): CustomResourceDefinitionLike {
  const { name, uid, annotations } = metadata;
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  if (name === undefined || uid === undefined || cluster === undefined || spec === undefined)
    throw new Error(`cannot bind APIResourceSchema "${name ?? ""}": it needs a UID, a cluster and a spec`);
  const { group, names, scope, versions, conversion } = spec;
  if (versions.length > 1 && conversion === undefined)
    throw new Error(`cannot bind APIResourceSchema "${name}": it has several versions, so set spec.conversion`);
  const approved = annotations?.[APPROVED_ANNOTATION];
  return cloneJson({
    metadata: {
      name: uid,
      annotations: {
        [CLUSTER_ANNOTATION]: BOUND_CRDS_CLUSTER,
        [BOUND_CRD_ANNOTATION]: "",
        [SCHEMA_CLUSTER_ANNOTATION]: cluster,
        [SCHEMA_NAME_ANNOTATION]: name,
        ...(approved === undefined ? {} : { [APPROVED_ANNOTATION]: approved }),
        ...(spec.nameValidation === "PathSegmentName" && { [VALIDATE_NAME_ANNOTATION]: "path-segment" }),
      },
    },
    spec: {
      group,
      names,
      scope,
      versions: versions.map(({ schema, ...version }) => ({
        ...version,
        schema: { openAPIV3Schema: schema as JsonSchema },
      })),
      ...(versions.length > 1 && conversion ? { conversion } : {}),
    },
  });
}
