import { ApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type AuthorizeRequest, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { APIS_GROUP, grantedVerbs, verbIsGranted } from "@virtual-workspaces/kcp";
import { acceptedClaim, isBound } from "../model/binding.ts";
import type { ApiModel, ExportKey } from "../model/model.ts";

const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const NO: Decision = deny("access denied");

/**
 * Whether a workspace has bound an export, and has the resource by that or lets the provider do this with it (kcp's
 * `boundAPIAuthorizer`). Of all workspaces at once nothing is asked: what is not bound or claimed is not in there.
 *
 * @throws ApiError 500 when there is no such export
 */
export function boundApi(model: Pick<ApiModel, "export" | "binding">, request: BoundApiRequest): Decision {
  const { isResource, group, resource, verb, params, of } = request;
  if (!isResource || params.cluster === WILDCARD) return allow();
  const exported = model.export(of);
  if (exported === undefined) throw ApiError.internalError("the export of this view cannot be found");
  const binding = model.binding(params.cluster, of);
  if (binding === undefined) return NO;
  if (isBound(binding, { group, resource })) return allow();
  const claim = acceptedClaim(binding, { group, resource });
  if (claim !== undefined) {
    const granted = grantedVerbs(claim, exported.spec?.permissionClaims ?? []);
    if (verbIsGranted(verb, granted)) return allow();
  }
  return group === APIS_GROUP && resource === "apibindings" && READ.has(verb) ? allow() : NO;
}

/** What is asked, and through which export. */
export interface BoundApiRequest extends Pick<AuthorizeRequest, "isResource" | "group" | "resource" | "verb"> {
  readonly params: { readonly cluster: string };
  readonly of: ExportKey;
}
