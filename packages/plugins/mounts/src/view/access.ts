import { ApiError } from "@virtual-workspaces/apimachinery";
import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import { type AuthorizeRequest, type Authorizer, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { type PolicyRule, ruleAllows } from "@virtual-workspaces/framework/authz";
import { Mount, type MountFilter } from "@virtual-workspaces/kcp";
import type { KnownMount, KnownMounts } from "../targets/known-mounts.ts";
import type { MountsViewOptions } from "./options.ts";

/** What the path of the view says. */
export interface MountParams {
  /** The logical cluster of the mount. */
  readonly cluster: string;
  /** The mount. */
  readonly name: string;
}

/** Who may ask a mount. */
export interface MountAccess extends AsyncDisposable {
  readonly authorize: Authorizer<MountParams>;
}

const NO: Decision = deny("access denied");
/** How often open watches and upgraded connections are asked about, ms. */
const EVERY = 1_000;

/**
 * Whoever may enter the workspace that a mount is in may ask it, as far as its filters go; what they may do there, the target decides.
 * Only who may enter is told whether there is such a mount.
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
      : deny("the filters of the mount do not let it pass");
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
