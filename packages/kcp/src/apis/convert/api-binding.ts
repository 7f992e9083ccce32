import type { Mapped } from "@virtual-workspaces/framework";
import { APIBinding, type APIBindingV1alpha1 } from "../kinds/api-binding.ts";
import type { Holds } from "../kinds/holds.ts";
import { annotationsWith, NEWER_ANNOTATIONS, OLDER_ANNOTATIONS, remembered, sentBack } from "./annotations.ts";
import { BOUND_CLAIM, newerClaims, olderClaims, TOLD_CLAIM } from "./claims.ts";

type Older = Holds<typeof APIBindingV1alpha1>;
type Newer = Holds<typeof APIBinding>;
type ClaimOf<List> = NonNullable<List> extends (infer Claim)[] ? Claim : never;

/**
 * Shows an APIBinding of v1alpha2 in v1alpha1: what that cannot say of claims is in annotations
 * ({@link NEWER_ANNOTATIONS}). `all` stands for `matchAll`.
 */
export function apiBindingToV1alpha1({ metadata, spec, status }: APIBinding): Mapped<Older> {
  const known = (name: keyof typeof OLDER_ANNOTATIONS) => remembered(metadata, OLDER_ANNOTATIONS[name]);
  const { permissionClaims, reference } = spec;
  const { appliedPermissionClaims, exportPermissionClaims, ...observed } = status ?? {};
  type Own = ClaimOf<Older["spec"]["permissionClaims"]>;
  const own = olderClaims<Own>(permissionClaims, known("permissionClaims"), BOUND_CLAIM);
  type Seen = ClaimOf<NonNullable<Older["status"]>["exportPermissionClaims"]>;
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
export function apiBindingToV1alpha2(object: APIBindingV1alpha1): Mapped<Newer> {
  const known = (name: keyof typeof NEWER_ANNOTATIONS) => sentBack(object, APIBinding, NEWER_ANNOTATIONS[name]);
  const { metadata, spec, status } = object;
  const { permissionClaims, reference } = spec;
  const { appliedPermissionClaims, exportPermissionClaims, ...observed } = status ?? {};
  type Status = NonNullable<Newer["status"]>;
  type Own = ClaimOf<Newer["spec"]["permissionClaims"]>;
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
