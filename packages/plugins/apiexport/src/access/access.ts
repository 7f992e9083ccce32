import { ApiError, isClusterName, quote, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type SubjectAccessReviewAuthorizer, subjectAccessReview } from "@virtual-workspaces/forwarding";
import { type AuthorizeRequest, type Authorizer, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { APIS_GROUP, MASTERS_GROUP } from "@virtual-workspaces/kcp";
import type { ApiModel, ExportKey } from "../model/model.ts";
import type { ApiExportViewOptions } from "../options.ts";
import { hasIdentity } from "../served/export-resources.ts";
import { boundApi } from "./bound-api.ts";
import { Policies } from "./policies.ts";

/** What the path of the view says. */
export interface ViewParams {
  readonly exportCluster: string;
  readonly export: string;
  readonly cluster: string;
}

type Request = AuthorizeRequest<ViewParams>;

const NO: Decision = deny("access denied");
/** How often open watches are asked about, ms. */
const EVERY = 1_000;

/** The export that a request is about. */
export function exportOf({ exportCluster, export: name }: ViewParams): ExportKey {
  return { cluster: exportCluster, name };
}

/** Who may do what through an export's view, and whom to dispose of. */
export interface ExportAccess extends AsyncDisposable {
  readonly authorize: Authorizer<ViewParams>;
}

/**
 * The rules of kcp's view, one after the other: the workspace has bound the resource, or lets the provider have it; the
 * caller may have the content of the export, which the export's workspace says; and what is claimed of another export, its
 * own policy lets the caller have. All must say yes. Why one says no, no caller is told. What cannot be found out is 500 or
 * 503, and no export 404 to whom it would be shown.
 */
export function exportAccess(model: ApiModel, options: ApiExportViewOptions): ExportAccess {
  const { upstream, reviews = upstream, allowCache, onError } = options;
  const common = {
    upstream: reviews,
    ...(allowCache !== undefined && { allowCache }),
    ...(onError !== undefined && { onError }),
  };
  const content: SubjectAccessReviewAuthorizer<ViewParams> = subjectAccessReview({
    ...common,
    cluster: ({ params }) => params.exportCluster,
    attributes: ({ verb, params }) => ({
      verb,
      group: APIS_GROUP,
      version: "v1alpha1",
      resource: "apiexports",
      subresource: "content",
      name: params.export,
    }),
  });
  const policies = new Policies(model, common);
  const authorize = async (request: Request): Promise<Decision> => {
    const { user, params } = request;
    if (user.in(MASTERS_GROUP)) return checkServed(model, request);
    if (!isClusterName(params.exportCluster)) return NO;
    const of = exportOf(params);
    if (!boundApi(model, boundRequest(request, of)).allowed) return NO;
    if (!(await content(request)).allowed) return NO;
    if (!(await policies.decide(request, of)).allowed) return NO;
    return checkServed(model, request);
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([content[Symbol.asyncDispose](), policies[Symbol.asyncDispose]()]);
    },
  };
}

function boundRequest({ isResource, group, resource, verb, params }: Request, of: ExportKey) {
  return { isResource, group, resource, verb, params, of };
}

/** @throws ApiError 404 where there is no export that could be served, 400 for a namespace of all logical clusters */
function checkServed(model: ApiModel, { params, isResource, namespace, verb }: Request): Decision {
  if (!hasIdentity(model.export(exportOf(params)))) throw ApiError.notFoundPath();
  if (params.cluster === WILDCARD && isResource && namespace !== "" && (verb === "list" || verb === "watch"))
    throw ApiError.badRequest(
      `there is no namespace ${quote(namespace)} of all logical clusters: ask for all, or in one`,
    );
  return allow();
}
