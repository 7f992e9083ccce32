import { ApiError, isClusterName, quote, WILDCARD } from "@virtual-workspaces/apimachinery";
import { type SubjectAccessReviewAuthorizer, subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  deny,
  type User,
} from "@virtual-workspaces/framework";
import { APIS_GROUP, clusterOf } from "@virtual-workspaces/kcp";
import { grantedVerbs, verbIsGranted } from "@virtual-workspaces/kcp/apis";
import { MASTERS_GROUP, prefixedUser } from "@virtual-workspaces/kcp/users";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel } from "./model/api-model.ts";
import { acceptedClaim, type ExportKey, isBound } from "./model/bindings.ts";
import type { ApiExportViewOptions } from "./options.ts";
import { hasIdentity } from "./served/export-resources.ts";

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
    if (!boundApi(model, request, of).allowed) return NO;
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

/** @throws ApiError 404 where there is no export that could be served, 400 for a namespace of all logical clusters */
function checkServed(model: ApiModel, { params, isResource, namespace, verb }: Request): Decision {
  if (!hasIdentity(model.export(exportOf(params)))) throw ApiError.notFoundPath();
  if (params.cluster === WILDCARD && isResource && namespace !== "" && (verb === "list" || verb === "watch"))
    throw ApiError.badRequest(
      `there is no namespace ${quote(namespace)} of all logical clusters: ask for all, or in one`,
    );
  return allow();
}

const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/**
 * Whether a workspace has bound an export, and has the resource by that or lets the provider do this with it (kcp's
 * `boundAPIAuthorizer`). Of all workspaces at once nothing is asked: what is not bound or claimed is not in there.
 *
 * @throws ApiError 500 when there is no such export
 */
function boundApi(model: Pick<ApiModel, "export" | "binding">, request: Request, of: ExportKey): Decision {
  const { isResource, group, resource, verb, params } = request;
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

/** How exports' workspaces are asked. */
interface PoliciesOptions {
  readonly upstream: Upstream;
  readonly allowCache?: number;
  readonly onError?: (error: unknown) => void;
}

/** A request, and whose policy it is about. */
interface Question extends Request {
  readonly policyCluster: string;
}

/**
 * Whether those who export what is claimed let providers have it (`spec.maximalPermissionPolicy`): asked in their workspaces,
 * about the caller as such policies name them, and past the rules for entering there.
 */
class Policies implements AsyncDisposable {
  readonly #model: Pick<ApiModel, "export" | "exportsOf">;
  readonly #review: SubjectAccessReviewAuthorizer<ViewParams>;

  constructor(model: Pick<ApiModel, "export" | "exportsOf">, options: PoliciesOptions) {
    this.#model = model;
    this.#review = subjectAccessReview<ViewParams>({
      ...options,
      cluster: (request) => (request as Question).policyCluster,
      subject: prefixedUser,
      deep: true,
    });
  }

  async decide(request: Request, of: ExportKey): Promise<Decision> {
    const { isResource, group, resource } = request;
    if (!isResource) return allow();
    const claim = this.#model
      .export(of)
      ?.spec?.permissionClaims?.find((one) => (one.group ?? "") === group && one.resource === resource);
    const { identityHash = "" } = claim ?? {};
    if (identityHash === "") return allow();
    const exports = this.#model.exportsOf(identityHash);
    if (exports.length === 0) return NO;
    for (const exported of exports) {
      if (exported.spec?.maximalPermissionPolicy?.local === undefined) continue;
      const decision = await this.#review(about(request, clusterOf(exported)));
      if (!decision.allowed) return NO;
    }
    return allow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#review[Symbol.asyncDispose]();
  }
}

/** The same request, asked elsewhere. */
function about(request: Request, policyCluster: string): Question {
  const { user, params, signal, isResource, verb, path, group, version, resource, identity } = request;
  const { subresource, namespace, name, longRunning, upgrade } = request;
  return {
    user,
    params,
    signal,
    isResource,
    verb,
    path,
    group,
    version,
    resource,
    identity,
    subresource,
    namespace,
    name,
    longRunning,
    upgrade,
    policyCluster,
  };
}

/** Names alone: where a path leads, another server may know. @throws ApiError 403, or 404 for who may see everything */
export function located(cluster: string, user: User): string {
  if (cluster === WILDCARD || isClusterName(cluster)) return cluster;
  if (user.in(MASTERS_GROUP)) throw ApiError.notFoundPath();
  const message = "a logical cluster is called by its name here, not by its path";
  throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}
