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
 * Shows an APIExport of v1alpha2 in v1alpha1: what that cannot say is in annotations ({@link NEWER_ANNOTATIONS}). Resources
 * in their own storage are `latestResourceSchemas`, claims lose their verbs.
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
 * Makes an APIExport of v1alpha2 of one of v1alpha1. Claims that its annotations do not say more of are for all verbs.
 *
 * @throws ApiError 422 if an annotation cannot be read, or the name of a schema has less than three parts
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
 * The resources that the names of their schemas do not tell: those in other storage, as in kcp, and all of them if the
 * names would not give the others back, or not in this order.
 */
function unsaidResources(resources: readonly ExportedResource[] = [], schemas: readonly string[]): object[] {
  const others = resources.filter((resource) => !isCustomResource(resource));
  const back = exportedResources(schemas, others) ?? [];
  return (equalJson(back, resources) ? others : resources).map(inOrderOfMembers);
}

/** Resources by their schemas, behind them those that were kept aside. @returns the name of a schema that names none */
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

/** `v1.widgets.example.dev` describes `widgets` of `example.dev`; the core group is spelt out. */
function exportedBy(schema: string): ExportedResource | undefined {
  const [, name, ...group] = schema.split(".");
  if (name === undefined || group.length === 0) return undefined;
  const named = group.join(".");
  return { group: named === "core" ? "" : named, name, schema, storage: { crd: {} } };
}

/** In kcp's order of members. */
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
 * Shows an APIBinding of v1alpha2 in v1alpha1: what that cannot say of claims is in annotations
 * ({@link NEWER_ANNOTATIONS}). `all` stands for `matchAll`.
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
 * Makes an APIBinding of v1alpha2 of one of v1alpha1. Claims that its annotations do not say more of are for all verbs and
 * all objects: so it always was in v1alpha1, `resourceSelector` or not.
 *
 * @throws ApiError 422 if an annotation cannot be read
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
 * The same APIExports in v1alpha1: `APIExportV1alpha1.serve(olderApiExports(exports))`. What is written is checked by the
 * rules of v1alpha2 too.
 */
export function olderApiExports(
  exports: WritableSource<Holds<typeof APIExport>>,
): Converted<Holds<typeof APIExport>, Holds<typeof APIExportV1alpha1>> {
  const [read, write] = [apiExportToV1alpha1, apiExportToV1alpha2];
  return converted({ from: exports, to: APIExportV1alpha1, read, write, onError });
}

/**
 * The same APIBindings in v1alpha1: `APIBindingV1alpha1.serve(olderApiBindings(bindings))`. What is written is checked by
 * the rules of v1alpha2 too: the selector of a claim with group and identity does not become another because an annotation
 * was left out.
 */
export function olderApiBindings(
  bindings: WritableSource<Holds<typeof APIBinding>>,
): Converted<Holds<typeof APIBinding>, Holds<typeof APIBindingV1alpha1>> {
  const [read, write] = [apiBindingToV1alpha1, apiBindingToV1alpha2];
  return converted({ from: bindings, to: APIBindingV1alpha1, read, write, onError });
}

/** What a client sent is inferred to the client; anything else is a fault of ours. */
function onError(error: unknown, object: string): void {
  if (!isApiError(error)) process.emitWarning(`conversion of ${object}: ${String(error)}`);
}
