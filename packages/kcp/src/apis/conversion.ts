import { ApiError, fieldInvalid, isApiError, type JsonObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { type Converted, converted, type Mapped, type WritableSource } from "@virtual-workspaces/framework";
import { APIBinding, APIBindingV1alpha1 } from "../kinds/api-binding.ts";
import { APIExport, APIExportV1alpha1 } from "../kinds/api-export.ts";
import type { Holds } from "../kinds/kind.ts";
import {
  annotationsWith,
  NEWER_ANNOTATIONS,
  OLDER_ANNOTATIONS,
  remembered,
  sentBack,
} from "./conversion-annotations.ts";
import { BOUND_CLAIM, EXPORT_CLAIM, newerClaims, olderClaims, TOLD_CLAIM } from "./converted-claims.ts";

type OlderExport = Holds<typeof APIExportV1alpha1>;
type NewerExport = Holds<typeof APIExport>;
type OlderExportSpec = NonNullable<OlderExport["spec"]>;
type NewerExportSpec = NonNullable<NewerExport["spec"]>;
type ExportedResource = NonNullable<NewerExportSpec["resources"]>[number];

/**
 * Converts an APIExport from v1alpha2 to v1alpha1. Settings that v1alpha1 lacks become annotations ({@link NEWER_ANNOTATIONS}).
 * Resources with their own storage become `latestResourceSchemas`, and claims lose their verbs.
 */
export function apiExportToV1alpha1({ metadata, spec, status }: APIExport): Mapped<OlderExport> {
  const { permissionClaims, resources, ...common } = spec ?? {};
  const known = remembered(metadata, OLDER_ANNOTATIONS.permissionClaims);
  type Claim = NonNullable<OlderExportSpec["permissionClaims"]>[number];
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
 * Converts an APIExport from v1alpha1 to v1alpha2. Claims get all verbs unless an annotation gives others.
 *
 * @throws ApiError 422 on an unreadable annotation, or a schema name with less than three parts
 */
export function apiExportToV1alpha2(object: APIExportV1alpha1): Mapped<NewerExport> {
  const { metadata, spec, status } = object;
  const { permissionClaims, latestResourceSchemas, ...common } = spec ?? {};
  const known = sentBack(object, APIExport, NEWER_ANNOTATIONS.permissionClaims);
  type Claim = NonNullable<NewerExportSpec["permissionClaims"]>[number];
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
 * Returns the resources that cannot be derived from the names of their schemas. As in kcp, these are the resources in other storage;
 * they are all resources when the names would not restore the rest in this order.
 */
function unsaidResources(resources: readonly ExportedResource[] = [], schemas: readonly string[]): object[] {
  const others = resources.filter((resource) => !isCustomResource(resource));
  const back = exportedResources(schemas, others) ?? [];
  return (equalJson(back, resources) ? others : resources).map(inOrderOfMembers);
}

/**
 * Derives resources from the names of their schemas, and appends the resources of the annotation.
 * @returns the schema name that names no resource
 */
function exportedResources(
  schemas: readonly string[] | undefined,
  aside: readonly ExportedResource[],
): ExportedResource[] | undefined | string {
  const wanted = new Set(schemas);
  const known = new Set(aside.filter(isCustomResource).map(({ schema }) => schema));
  const inferred: ExportedResource[] = [];
  for (const schema of wanted.difference(known)) {
    const resource = exportedBy(schema);
    if (resource === undefined) return schema;
    inferred.push(resource);
  }
  const kept = aside.filter((resource) => !isCustomResource(resource) || wanted.has(resource.schema));
  return schemas === undefined && kept.length === 0 ? undefined : [...inferred, ...kept];
}

/** Derives a resource: `v1.widgets.example.dev` describes `widgets` of `example.dev`. The core group is spelled `core`. */
function exportedBy(schema: string): ExportedResource | undefined {
  const [, name, ...group] = schema.split(".");
  if (name === undefined || group.length === 0) return undefined;
  const named = group.join(".");
  return { group: named === "core" ? "" : named, name, schema, storage: { crd: {} } };
}

/** Orders the fields as kcp does. */
function inOrderOfMembers({ name, group, schema, storage }: ExportedResource): JsonObject {
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

type OlderBinding = Holds<typeof APIBindingV1alpha1>;
type NewerBinding = Holds<typeof APIBinding>;
type ClaimOf<List> = NonNullable<List> extends (infer Claim)[] ? Claim : never;

/**
 * Converts an APIBinding from v1alpha2 to v1alpha1. Claim settings that v1alpha1 lacks become annotations ({@link
 * NEWER_ANNOTATIONS}). `matchAll` becomes `all`.
 */
export function apiBindingToV1alpha1({ metadata, spec, status }: APIBinding): Mapped<OlderBinding> {
  const known = (name: keyof typeof OLDER_ANNOTATIONS) => remembered(metadata, OLDER_ANNOTATIONS[name]);
  const { permissionClaims, reference } = spec;
  const { appliedPermissionClaims, exportPermissionClaims, ...observed } = status ?? {};
  type Own = ClaimOf<OlderBinding["spec"]["permissionClaims"]>;
  const own = olderClaims<Own>(permissionClaims, known("permissionClaims"), BOUND_CLAIM);
  type Seen = ClaimOf<NonNullable<OlderBinding["status"]>["exportPermissionClaims"]>;
  const applied = olderClaims<Seen>(appliedPermissionClaims, known("appliedClaims"), BOUND_CLAIM);
  const exported = olderClaims<Seen>(exportPermissionClaims, known("exportClaims"), TOLD_CLAIM);
  const annotations = annotationsWith(metadata, {
    [NEWER_ANNOTATIONS.acceptableClaims]: own.aside,
    [NEWER_ANNOTATIONS.exportClaims]: exported.aside,
    [NEWER_ANNOTATIONS.appliedClaims]: applied.aside,
  });
  return {
    spec: { reference, ...(own.claims && { permissionClaims: own.claims }) },
    ...(status && {
      status: {
        ...observed,
        ...(applied.claims && { appliedPermissionClaims: applied.claims }),
        ...(exported.claims && { exportPermissionClaims: exported.claims }),
      },
    }),
    metadata: { annotations },
  };
}

/**
 * Converts an APIBinding from v1alpha1 to v1alpha2. Claims get all verbs and all objects unless an annotation gives others:
 * v1alpha1 always meant this, with `resourceSelector` or without.
 *
 * @throws ApiError 422 on an unreadable annotation
 */
export function apiBindingToV1alpha2(object: APIBindingV1alpha1): Mapped<NewerBinding> {
  const known = (name: keyof typeof NEWER_ANNOTATIONS) => sentBack(object, APIBinding, NEWER_ANNOTATIONS[name]);
  const { metadata, spec, status } = object;
  const { permissionClaims, reference } = spec;
  const { appliedPermissionClaims, exportPermissionClaims, ...observed } = status ?? {};
  type Status = NonNullable<NewerBinding["status"]>;
  type Own = ClaimOf<NewerBinding["spec"]["permissionClaims"]>;
  const own = newerClaims<Own>(permissionClaims, known("acceptableClaims"), BOUND_CLAIM);
  type Applied = ClaimOf<Status["appliedPermissionClaims"]>;
  const applied = newerClaims<Applied>(appliedPermissionClaims, known("appliedClaims"), BOUND_CLAIM);
  type Told = ClaimOf<Status["exportPermissionClaims"]>;
  const exported = newerClaims<Told>(exportPermissionClaims, known("exportClaims"), TOLD_CLAIM);
  const annotations = annotationsWith(metadata, {
    [OLDER_ANNOTATIONS.permissionClaims]: own.aside,
    [OLDER_ANNOTATIONS.exportClaims]: exported.aside,
    [OLDER_ANNOTATIONS.appliedClaims]: applied.aside,
  });
  return {
    spec: { reference, ...(own.claims && { permissionClaims: own.claims }) },
    ...(status && {
      status: {
        ...observed,
        ...(applied.claims && { appliedPermissionClaims: applied.claims }),
        ...(exported.claims && { exportPermissionClaims: exported.claims }),
      },
    }),
    metadata: { annotations },
  };
}

/**
 * Returns these APIExports in v1alpha1: `APIExportV1alpha1.serve(olderApiExports(exports))`. The rules of v1alpha2 also validate
 * each write.
 */
export function olderApiExports(
  exports: WritableSource<Holds<typeof APIExport>>,
): Converted<Holds<typeof APIExport>, Holds<typeof APIExportV1alpha1>> {
  const [read, write] = [apiExportToV1alpha1, apiExportToV1alpha2];
  return converted({ from: exports, to: APIExportV1alpha1, read, write, onError });
}

/**
 * Returns these APIBindings in v1alpha1: `APIBindingV1alpha1.serve(olderApiBindings(bindings))`. The rules of v1alpha2 also
 * validate each write: leaving out an annotation cannot change the selector of a claim with a group and an identity.
 */
export function olderApiBindings(
  bindings: WritableSource<Holds<typeof APIBinding>>,
): Converted<Holds<typeof APIBinding>, Holds<typeof APIBindingV1alpha1>> {
  const [read, write] = [apiBindingToV1alpha1, apiBindingToV1alpha2];
  return converted({ from: bindings, to: APIBindingV1alpha1, read, write, onError });
}

/** Warns of a fault of this library. An ApiError is about the client's input and goes to the client. */
function onError(error: unknown, object: string): void {
  if (!isApiError(error)) process.emitWarning(`cannot convert ${object}: ${String(error)}`);
}
