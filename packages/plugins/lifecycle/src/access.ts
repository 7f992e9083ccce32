import { ApiError, isClusterName, quote, WILDCARD } from "@virtual-workspaces/apimachinery";
import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  deny,
  type User,
} from "@virtual-workspaces/framework";
import { LogicalCluster, parseLifecycleName, WorkspaceType } from "@virtual-workspaces/kcp";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { Content } from "./content.ts";
import type { LifecycleViewOptions } from "./options.ts";
import type { Phase } from "./phase.ts";
import type { LifecycleParams } from "./waiting.ts";

/** Authorizer of a lifecycle view, with resources to dispose. */
export interface LifecycleAccess extends AsyncDisposable {
  readonly authorize: Authorizer<LifecycleParams>;
}

type Request = AuthorizeRequest<LifecycleParams>;

const NO: Decision = deny("access denied");
/** Interval for the authorization of open watches, in ms. */
const EVERY = 1_000;

/**
 * Authorizes the controller of a WorkspaceType for any request: a user to whom the type's workspace grants `initialize`,
 * `terminate` or `prepare` on it. {@link Content} limits the access to the content of workspaces. Security: callers learn no reason
 * for a denial.
 */
export function lifecycleAccess(phase: Phase, content: Content, options: LifecycleViewOptions): LifecycleAccess {
  const { upstream, reviews = upstream, allowCache, onError } = options;
  const { group, version, plural: resource } = WorkspaceType;
  const controller = subjectAccessReview<LifecycleParams>({
    upstream: reviews,
    ...(allowCache !== undefined && { allowCache }),
    ...(onError !== undefined && { onError }),
    cluster: ({ params }) => parseLifecycleName(params.holder)?.cluster,
    attributes: ({ params }) => {
      const name = parseLifecycleName(params.holder)?.name ?? "";
      return name === "" ? undefined : { verb: phase.verb, group, version, resource, name };
    },
  });
  const authorize = async (request: Request): Promise<Decision> => {
    const isMaster = request.user.in(MASTERS_GROUP);
    // No workspace waits for a name that is no type's: as in kcp, `system:masters` see documents and empty lists.
    if (!isHolder(request.params.holder) && !(isMaster && phase.anyName)) throw malformed(phase, request);
    if (!isMaster && !(await controller(request)).allowed) return NO;
    return isContent(phase, request) ? content.decide(request) : allow();
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: () => controller[Symbol.asyncDispose](),
  };
}

/** Accepts only cluster names, since a path may lead to another server. @throws ApiError 403, or 404 for `system:masters` */
export function located(cluster: string, user: User): string {
  if (cluster === WILDCARD || isClusterName(cluster)) return cluster;
  throw rejection(user, "a logical cluster is called by its name here, not by its path");
}

function isHolder(holder: string): boolean {
  const type = parseLifecycleName(holder);
  return type !== undefined && isClusterName(type.cluster) && type.name !== "";
}

/** kcp answers 500. */
function malformed({ holder }: Phase, { params, user }: Request): ApiError {
  return rejection(
    user,
    `invalid ${holder} ${quote(params.holder)}: use <name of the logical cluster of a WorkspaceType>:<name of the type>`,
  );
}

function rejection(user: User, message: string): ApiError {
  if (user.in(MASTERS_GROUP)) return ApiError.notFoundPath();
  return ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}

/** Paths of a workspace that reveal none of its content. */
const ROOTS: ReadonlySet<string> = new Set(["/", "/healthz"]);

/**
 * Returns whether a request is for the content of a workspace, and not for its LogicalCluster or all waiting ones. As in kcp, one
 * root has three parts (`wildcard-logicalclusters`, `logicalclusters`, `workspace-content`).
 */
export function isContent({ tellsOfItself }: Phase, request: AuthorizeRequest<LifecycleParams>): boolean {
  const { params, isResource, group, resource, path } = request;
  if (params.cluster === WILDCARD) return false;
  if (isResource) return group !== LogicalCluster.group || resource !== LogicalCluster.plural;
  return !tellsOfItself || ROOTS.has(path);
}
