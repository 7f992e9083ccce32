import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import { type AuthorizeRequest, type Authorizer, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { APIS_GROUP, MASTERS_GROUP } from "@virtual-workspaces/kcp";
import type { ApiResourceSchemaViewOptions } from "../options.ts";

/** What the path of the view says: whose bindings count. */
export interface ConsumerParams {
  readonly cluster: string;
}

/** Who may read what a workspace has bound, and whom to dispose of. */
export interface SchemaAccess extends AsyncDisposable {
  readonly authorize: Authorizer<ConsumerParams>;
}

const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const NO: Decision = deny("access denied");
/** How often open watches are asked about, ms. */
const EVERY = 1_000;

/**
 * Whoever may get any binding of a workspace, says the workspace, may read the schemas of what is bound there (kcp's
 * `apiResourceSchemaAuthorizer`), though those are in the workspaces of providers who do not know them. Why a workspace
 * says no, no caller is told.
 */
export function schemaAccess({ upstream, allowCache, onError }: ApiResourceSchemaViewOptions): SchemaAccess {
  const bindings = subjectAccessReview<ConsumerParams>({
    upstream,
    ...(allowCache !== undefined && { allowCache }),
    ...(onError !== undefined && { onError }),
    attributes: () => ({ verb: "get", group: APIS_GROUP, version: "v1alpha2", resource: "apibindings" }),
  });
  const authorize = async (request: AuthorizeRequest<ConsumerParams>): Promise<Decision> => {
    if (request.user.in(MASTERS_GROUP)) return allow();
    if (!READ.has(request.verb)) return NO;
    return (await bindings(request)).allowed ? allow() : NO;
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: () => bindings[Symbol.asyncDispose](),
  };
}
