import { ApiError, isClusterName, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type SubjectAccessReviewAuthorizer, subjectAccessReview } from "@virtual-workspaces/forwarding";
import { type AuthorizeRequest, type Authorizer, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { APIS_GROUP } from "@virtual-workspaces/kcp";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { ApiModel } from "../model/api-model.ts";
import { isBound } from "../model/bindings.ts";
import type { ReplicationViewOptions } from "../options.ts";
import type { CachedModel, PublishedObjects, SliceKey } from "./cached-model.ts";

/** Parameters in the path of the view. */
export interface ReplicationParams {
  readonly sliceCluster: string;
  readonly slice: string;
  readonly cluster: string;
}

type Request = AuthorizeRequest<ReplicationParams>;

const NO: Decision = deny("access denied");
const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);
/** Interval for the authorization of open watches, in ms. */
const EVERY = 1_000;

/** Returns the slice of a request. */
export function sliceOf({ sliceCluster, slice }: ReplicationParams): SliceKey {
  return { cluster: sliceCluster, name: slice };
}

/** Authorizer of the view, with resources to dispose. */
export interface ReplicationAccess extends AsyncDisposable {
  readonly authorize: Authorizer<ReplicationParams>;
}

/**
 * Authorizes reads of the objects in a workspace that has bound the export. The workspace must let the caller read the resource:
 * users of the workspace, and its shard on their behalf. Or the export's workspace must grant the caller the content of the
 * export, as in kcp. Discovery needs the latter. Security: callers learn no reason for a denial.
 */
export function replicationAccess(
  { model, cached }: { readonly model: Pick<ApiModel, "binding">; readonly cached: Pick<CachedModel, "published"> },
  { upstream, everywhere = upstream, allowCache, onError }: ReplicationViewOptions,
): ReplicationAccess {
  const common = { ...(allowCache !== undefined && { allowCache }), ...(onError !== undefined && { onError }) };
  const here: SubjectAccessReviewAuthorizer<ReplicationParams> = subjectAccessReview({ ...common, upstream });
  const content = subjectAccessReview<ReplicationParams>({
    ...common,
    upstream: everywhere,
    cluster: (request) => cached.published(sliceOf(request.params))?.export.cluster,
    attributes: ({ verb, params }) => {
      const name = cached.published(sliceOf(params))?.export.name;
      if (name === undefined) return undefined;
      return { verb, group: APIS_GROUP, version: "v1alpha1", resource: "apiexports", subresource: "content", name };
    },
  });
  const isAllowed = async (request: Request, published: PublishedObjects): Promise<boolean> => {
    const { params, isResource, verb } = request;
    if (isResource && params.cluster !== WILDCARD) {
      const binding = model.binding(params.cluster, published.export);
      if (binding === undefined || !isBound(binding, published)) return false;
      // A write that the workspace allows is 405 then, since the view has no such verb.
      if ((await here(request)).allowed) return true;
    }
    return READ.has(verb) && (await content(request)).allowed;
  };
  const authorize = async (request: Request): Promise<Decision> => {
    const { user, params, isResource, verb } = request;
    const isMaster = user.in(MASTERS_GROUP);
    if (!isMaster && !isClusterName(params.sliceCluster)) return NO;
    const published = cached.published(sliceOf(params));
    if (!isMaster && (published === undefined || !(await isAllowed(request, published)))) return NO;
    if (published === undefined) throw ApiError.notFoundPath();
    if (isResource && params.cluster === WILDCARD && READ.has(verb))
      throw ApiError.badRequest(
        "cached resources cannot be read across all logical clusters: name one logical cluster",
      );
    return allow();
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([here[Symbol.asyncDispose](), content[Symbol.asyncDispose]()]);
    },
  };
}
