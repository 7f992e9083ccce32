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
 * What is wrong with an APIExport beyond its schema: claims on resources that only exports bring must say of which, and
 * names of schemas must agree with the resources. Kcp answers the first as 403.
 *
 * @param isBuiltIn Whether every workspace has a resource
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
 * What is wrong with an APIBinding beyond its schema: what it refers to, the selectors of its claims, and a phase that goes
 * back to none. Kcp answers all of it as one 403.
 *
 * @param before What it was, if it is changed
 */
export function apiBindingProblems({ spec, status }: APIBinding, before?: APIBinding): StatusCause[] {
  const { reference, permissionClaims = [] } = spec;
  const was = before?.status?.phase ?? "";
  return [
    ...(reference.export === undefined ? [fieldRequired("spec.reference.export")] : []),
    ...(reference.export?.name === "" ? [fieldRequired("spec.reference.export.name")] : []),
    // Asked before the schema is: there may be none.
    ...permissionClaims.flatMap(({ selector = {} }: { readonly selector?: ClaimSelector }, at) =>
      claimSelectorProblems(selector, `spec.permissionClaims[${at}].selector`),
    ),
    ...(was !== "" && (status?.phase ?? "") === ""
      ? [fieldForbidden("status.phase", `cannot transition from "${was}" to ""`)]
      : []),
  ];
}
