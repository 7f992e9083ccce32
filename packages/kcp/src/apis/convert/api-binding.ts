import type { Mapped } from "@virtual-workspaces/framework";
import { APIBinding, type APIBindingV1alpha1 } from "../kinds/api-binding.ts";
import type { Holds } from "../kinds/holds.ts";
import { annotationsWith, NEWER_ANNOTATIONS, OLDER_ANNOTATIONS, remembered, sentBack } from "./annotations.ts";
import { newerClaims, olderClaims } from "./claims.ts";

type Older = Holds<typeof APIBindingV1alpha1>;
type Newer = Holds<typeof APIBinding>;
type Claims<Of, Name extends keyof Of> = NonNullable<Of[Name]> extends (infer Claim)[] ? Claim : never;
type OlderStatus = NonNullable<Older["status"]>;
type NewerStatus = NonNullable<Newer["status"]>;

/**
 * Shows an APIBinding of v1alpha2 in v1alpha1: what that cannot say of claims is in annotations
 * ({@link NEWER_ANNOTATIONS}). `all` stands for `matchAll`.
 */
export function apiBindingToV1alpha1({ metadata, spec, status }: APIBinding): Mapped<Older> {
  const known = (name: keyof typeof OLDER_ANNOTATIONS) => remembered(metadata, OLDER_ANNOTATIONS[name]);
  const own = olderClaims<Claims<Older["spec"], "permissionClaims">>(spec.permissionClaims, known("permissionClaims"));
  const { appliedPermissionClaims, exportPermissionClaims, ...observed } = status ?? {};
  type Applied = Claims<OlderStatus, "appliedPermissionClaims">;
  const applied = olderClaims<Applied>(appliedPermissionClaims, known("appliedClaims"));
  const exported = olderClaims<Applied>(exportPermissionClaims, known("exportClaims"));
  return {
    spec: { reference: spec.reference, ...(own.claims && { permissionClaims: own.claims }) },
    ...(status && {
      status: {
        ...observed,
        ...(applied.claims && { appliedPermissionClaims: applied.claims }),
        ...(exported.claims && { exportPermissionClaims: exported.claims }),
      },
    }),
    metadata: {
      annotations: annotationsWith(metadata, {
        [NEWER_ANNOTATIONS.acceptableClaims]: own.aside,
        [NEWER_ANNOTATIONS.exportClaims]: exported.aside,
        [NEWER_ANNOTATIONS.appliedClaims]: applied.aside,
      }),
    },
  };
}

/**
 * Makes an APIBinding of v1alpha2 of one of v1alpha1. Claims that its annotations do not say more of are for all verbs and
 * all objects: so it always was in v1alpha1, `resourceSelector` or not.
 *
 * @throws ApiError 422 if an annotation cannot be read
 */
export function apiBindingToV1alpha2(object: APIBindingV1alpha1): Mapped<Newer> {
  const { metadata, spec, status } = object;
  const known = (name: keyof typeof NEWER_ANNOTATIONS) => sentBack(object, APIBinding, NEWER_ANNOTATIONS[name]);
  type Own = Claims<Newer["spec"], "permissionClaims">;
  const own = newerClaims<Own>(spec.permissionClaims, known("acceptableClaims"), { scoped: true });
  const { appliedPermissionClaims, exportPermissionClaims, ...observed } = status ?? {};
  type Applied = Claims<NewerStatus, "appliedPermissionClaims">;
  const applied = newerClaims<Applied>(appliedPermissionClaims, known("appliedClaims"), { scoped: true });
  type Exported = Claims<NewerStatus, "exportPermissionClaims">;
  const exported = newerClaims<Exported>(exportPermissionClaims, known("exportClaims"), { scoped: false });
  return {
    spec: { reference: spec.reference, ...(own.claims && { permissionClaims: own.claims }) },
    ...(status && {
      status: {
        ...observed,
        ...(applied.claims && { appliedPermissionClaims: applied.claims }),
        ...(exported.claims && { exportPermissionClaims: exported.claims }),
      },
    }),
    metadata: {
      annotations: annotationsWith(metadata, {
        [OLDER_ANNOTATIONS.permissionClaims]: own.aside,
        [OLDER_ANNOTATIONS.exportClaims]: exported.aside,
        [OLDER_ANNOTATIONS.appliedClaims]: applied.aside,
      }),
    },
  };
}
