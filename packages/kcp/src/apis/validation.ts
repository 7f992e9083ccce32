import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type GroupResource,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { APIBinding } from "../kinds/api-binding.ts";
import type { APIExport } from "../kinds/api-export.ts";
import { type ClaimSelector, claimSelectorProblems } from "./claims.ts";

/**
 * Returns the problems of an APIExport beyond its schema. A claim on a resource of an export needs an `identityHash` (kcp answers
 * 403), and the names of schemas must match their resources.
 *
 * @param isBuiltIn Returns whether every workspace has a resource
 */
export function apiExportProblems({ spec }: APIExport, isBuiltIn: (resource: GroupResource) => boolean): StatusCause[] {
  const { permissionClaims = [], resources = [] } = spec ?? {};
  return [
    ...permissionClaims.flatMap(({ group = "", resource, identityHash = "" }, at) =>
      identityHash !== "" || group === "apis.kcp.io" || isBuiltIn({ group, resource })
        ? []
        : [fieldInvalid(`spec.permissionClaims[${at}].identityHash`, "", NO_IDENTITY)],
    ),
    ...resources.flatMap(({ group, name, schema }, at) => {
      const end = `.${name}.${group === "" ? "core" : group}`;
      return schema.endsWith(end) ? [] : [fieldInvalid(`spec.resources[${at}].schema`, schema, `must end in ${end}`)];
    }),
  ];
}

const NO_IDENTITY = "identityHash is required for API types that are not built-in";

/**
 * Returns the problems of an APIBinding beyond its schema, in its reference, in the selectors of its claims, or a phase that becomes
 * empty. kcp answers all of them as one 403.
 *
 * @param before The previous object, for an update
 */
export function apiBindingProblems({ spec, status }: APIBinding, before?: APIBinding): StatusCause[] {
  const { reference, permissionClaims = [] } = spec;
  const was = before?.status?.phase ?? "";
  return [
    ...(reference.export === undefined ? [fieldRequired("spec.reference.export")] : []),
    ...(reference.export?.name === "" ? [fieldRequired("spec.reference.export.name")] : []),
    // This check runs before that of the schema, so the selector may be missing.
    ...permissionClaims.flatMap(({ selector = {} }: { readonly selector?: ClaimSelector }, at) =>
      claimSelectorProblems(selector, `spec.permissionClaims[${at}].selector`),
    ),
    ...(was !== "" && (status?.phase ?? "") === ""
      ? [fieldForbidden("status.phase", `cannot transition from "${was}" to ""`)]
      : []),
  ];
}
