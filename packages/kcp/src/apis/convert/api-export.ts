import { ApiError, equalJson, fieldInvalid, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { Mapped } from "@virtual-workspaces/framework";
import { APIExport, type APIExportV1alpha1 } from "../kinds/api-export.ts";
import type { Holds } from "../kinds/holds.ts";
import { annotationsWith, NEWER_ANNOTATIONS, OLDER_ANNOTATIONS, remembered, sentBack } from "./annotations.ts";
import { EXPORT_CLAIM, newerClaims, olderClaims } from "./claims.ts";

type Older = Holds<typeof APIExportV1alpha1>;
type Newer = Holds<typeof APIExport>;
type OlderSpec = NonNullable<Older["spec"]>;
type NewerSpec = NonNullable<Newer["spec"]>;
type ExportedResource = NonNullable<NewerSpec["resources"]>[number];

/**
 * Shows an APIExport of v1alpha2 in v1alpha1: what that cannot say is in annotations ({@link NEWER_ANNOTATIONS}). Resources
 * in their own storage are `latestResourceSchemas`, claims lose their verbs.
 */
export function apiExportToV1alpha1({ metadata, spec, status }: APIExport): Mapped<Older> {
  const { permissionClaims, resources, ...common } = spec ?? {};
  const known = remembered(metadata, OLDER_ANNOTATIONS.permissionClaims);
  type Claim = NonNullable<OlderSpec["permissionClaims"]>[number];
  const { claims, aside } = olderClaims<Claim>(permissionClaims, known, EXPORT_CLAIM);
  const schemas = [...new Set(resources?.filter(isCustomResource).map(({ schema }) => schema))];
  const annotations = annotationsWith(metadata, {
    [NEWER_ANNOTATIONS.resourceSchemas]: unsaidResources(resources, schemas),
    [NEWER_ANNOTATIONS.permissionClaims]: aside,
  });
  return {
    ...(spec && {
      spec: {
        ...common,
        ...(claims && { permissionClaims: claims }),
        ...(resources && (schemas.length > 0 || resources.length === 0) && { latestResourceSchemas: schemas }),
      },
    }),
    ...(status && { status }),
    metadata: { annotations },
  };
}

/**
 * Makes an APIExport of v1alpha2 of one of v1alpha1. Claims that its annotations do not say more of are for all verbs.
 *
 * @throws ApiError 422 if an annotation cannot be read, or the name of a schema has less than three parts
 */
export function apiExportToV1alpha2(object: APIExportV1alpha1): Mapped<Newer> {
  const { metadata, spec, status } = object;
  const { permissionClaims, latestResourceSchemas, ...common } = spec ?? {};
  const known = sentBack(object, APIExport, NEWER_ANNOTATIONS.permissionClaims);
  type Claim = NonNullable<NewerSpec["permissionClaims"]>[number];
  const { claims, aside } = newerClaims<Claim>(permissionClaims, known, EXPORT_CLAIM);
  const unsaid = sentBack(object, APIExport, NEWER_ANNOTATIONS.resourceSchemas);
  const resources = exportedResources(latestResourceSchemas, unsaid as unknown as readonly ExportedResource[]);
  if (typeof resources === "string") throw invalidSchema(object, resources);
  return {
    ...((spec || resources) && {
      spec: { ...common, ...(claims && { permissionClaims: claims }), ...(resources && { resources }) },
    }),
    ...(status && { status }),
    metadata: { annotations: annotationsWith(metadata, { [OLDER_ANNOTATIONS.permissionClaims]: aside }) },
  };
}

function isCustomResource({ storage }: ExportedResource): boolean {
  return storage?.crd !== undefined;
}

/**
 * The resources that the names of their schemas do not tell: those in other storage, as in kcp, and all of them if the
 * names would not give the others back, or not in this order.
 */
function unsaidResources(resources: readonly ExportedResource[] = [], schemas: readonly string[]): object[] {
  const others = resources.filter((resource) => !isCustomResource(resource));
  const back = exportedResources(schemas, others) ?? [];
  return (equalJson(back, resources) ? others : resources).map(resourceText);
}

/** Resources by their schemas, behind them those that were kept aside. @returns the name of a schema that names none */
function exportedResources(
  schemas: readonly string[] | undefined,
  aside: readonly ExportedResource[],
): ExportedResource[] | undefined | string {
  const wanted = new Set(schemas);
  const known = new Set(aside.filter(isCustomResource).map(({ schema }) => schema));
  const told: ExportedResource[] = [];
  for (const schema of wanted.difference(known)) {
    const resource = exportedBy(schema);
    if (resource === undefined) return schema;
    told.push(resource);
  }
  const kept = aside.filter((resource) => !isCustomResource(resource) || wanted.has(resource.schema));
  return schemas === undefined && kept.length === 0 ? undefined : [...told, ...kept];
}

/** `v1.widgets.example.dev` describes `widgets` of `example.dev`; the core group is spelt out. */
function exportedBy(schema: string): ExportedResource | undefined {
  const [, name, ...group] = schema.split(".");
  if (name === undefined || group.length === 0) return undefined;
  const named = group.join(".");
  return { group: named === "core" ? "" : named, name, schema, storage: { crd: {} } };
}

/** In kcp's order of members. */
function resourceText({ name, group, schema, storage }: ExportedResource): JsonObject {
  const { crd, virtual } = storage ?? {};
  const { apiGroup, kind, name: object } = virtual?.reference ?? {};
  const reference = virtual && { apiGroup, kind, name: object };
  return {
    name,
    group,
    schema,
    storage: storage && { crd, virtual: virtual && { reference, identityHash: virtual.identityHash } },
  };
}

function invalidSchema({ metadata, spec }: APIExportV1alpha1, schema: string): ApiError {
  const field = `spec.latestResourceSchemas[${spec?.latestResourceSchemas?.indexOf(schema) ?? 0}]`;
  const causes = [
    fieldInvalid(field, schema, "must be a name like <prefix>.<resource>.<group>, with three parts at least"),
  ];
  return ApiError.invalid({ kind: APIExport, name: metadata.name ?? "", causes });
}
