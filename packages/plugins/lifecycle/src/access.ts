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

/** Who may look at what waits for a controller, and whom to dispose of. */
export interface LifecycleAccess extends AsyncDisposable {
  readonly authorize: Authorizer<LifecycleParams>;
}

type Request = AuthorizeRequest<LifecycleParams>;

const NO: Decision = deny("access denied");
/** How often open watches are asked about, ms. */
const EVERY = 1_000;

/**
 * Whoever may `initialize`, `terminate` or `prepare` a WorkspaceType, which its own workspace says, is that type's controller, whatever is
 * asked for; what of a workspace it may have, {@link Content} says. Why a workspace says no, no caller is told.
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
    if (!isHolder(request.params.holder)) throw malformed(phase, request);
    if (!request.user.in(MASTERS_GROUP) && !(await controller(request)).allowed) return NO;
    return isContent(phase, request) ? content.decide(request) : allow();
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: () => controller[Symbol.asyncDispose](),
  };
}

/** Names alone: where a path leads, another server may know. @throws ApiError 403, or 404 for who may see everything */
export function located(cluster: string, user: User): string {
  if (cluster === WILDCARD || isClusterName(cluster)) return cluster;
  throw rejection(user, "a logical cluster is called by its name here, not by its path");
}

function isHolder(holder: string): boolean {
  const type = parseLifecycleName(holder);
  return type !== undefined && isClusterName(type.cluster) && type.name !== "";
}

/** kcp: 500. */
function malformed({ holder }: Phase, { params, user }: Request): ApiError {
  return rejection(
    user,
    `${quote(params.holder)} is no ${holder}: that is <name of the logical cluster of a WorkspaceType>:<name of the type>`,
  );
}

function rejection(user: User, message: string): ApiError {
  if (user.in(MASTERS_GROUP)) return ApiError.notFoundPath();
  return ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}

/** What one can ask for without asking for anything of the workspace. */
const ROOTS: ReadonlySet<string> = new Set(["/", "/healthz"]);

/**
 * Whether a request is about what a workspace has, and not about its LogicalCluster, or all that wait: three parts under one root, as
 * in kcp (`wildcard-logicalclusters`, `logicalclusters`, `workspace-content`).
 */
export function isContent({ tellsOfItself }: Phase, request: AuthorizeRequest<LifecycleParams>): boolean {
  const { params, isResource, group, resource, path } = request;
  if (params.cluster === WILDCARD) return false;
  if (isResource) return group !== LogicalCluster.group || resource !== LogicalCluster.plural;
  return !tellsOfItself || ROOTS.has(path);
}
