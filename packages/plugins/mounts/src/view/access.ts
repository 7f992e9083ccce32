import { ApiError } from "@virtual-workspaces/apimachinery";
import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import { type AuthorizeRequest, type Authorizer, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { type PolicyRule, ruleAllows } from "@virtual-workspaces/framework/authz";
import { Mount, type MountFilter } from "@virtual-workspaces/kcp";
import type { KnownMount, KnownMounts } from "../targets/known-mounts.ts";
import type { MountsViewOptions } from "./options.ts";

/** Parameters in the path of the view. */
export interface MountParams {
  /** Logical cluster of the mount. */
  readonly cluster: string;
  /** Name of the mount. */
  readonly name: string;
}

/** Authorizer of mounts, with resources to dispose. */
export interface MountAccess extends AsyncDisposable {
  readonly authorize: Authorizer<MountParams>;
}

const NO: Decision = deny("access denied");
/** Interval for the authorization of open watches and upgraded connections, in ms. */
const EVERY = 1_000;

/**
 * Authorizes users with access to a mount's workspace, within the mount's filters. The target authorizes the request itself.
 * Security: only users with access learn whether a mount exists.
 */
export function mountAccess(mounts: Pick<KnownMounts, "get">, options: MountsViewOptions): MountAccess {
  const { upstream, reviews = upstream, allowCache, onError } = options;
  const enters = subjectAccessReview<MountParams>({
    upstream: reviews,
    ...(allowCache !== undefined && { allowCache }),
    ...(onError !== undefined && { onError }),
    attributes: () => ({ verb: "access", path: "/" }),
  });
  const authorize = async (request: AuthorizeRequest<MountParams>): Promise<Decision> => {
    if (!(await enters(request)).allowed) return NO;
    return passes(found(mounts, request.params), request)
      ? allow()
      : deny("the filters of the mount do not allow this request");
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: () => enters[Symbol.asyncDispose](),
  };
}

/** @throws ApiError 404 */
export function found(mounts: Pick<KnownMounts, "get">, params: MountParams): KnownMount {
  const known = mounts.get(params);
  if (known !== undefined) return known;
  throw ApiError.notFound({ group: Mount.group, resource: Mount.plural }, params.name);
}

function passes({ target }: KnownMount, request: AuthorizeRequest<MountParams>): boolean {
  if (target.kind !== "proxy" || target.filters === undefined) return true;
  return target.filters.some((filter) => ruleAllows(ruleOf(filter), request));
}

function ruleOf({ verbs, groups = ["*"], resources = [], paths = [] }: MountFilter): PolicyRule {
  return { verbs, apiGroups: groups, resources, nonResourceURLs: paths };
}
