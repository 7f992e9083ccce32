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
import { type APIExport, APIS_GROUP, clusterOf } from "@virtual-workspaces/kcp";
import { grantedVerbs, verbIsGranted } from "@virtual-workspaces/kcp/apis";
import { MASTERS_GROUP, prefixedUser } from "@virtual-workspaces/kcp/users";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel } from "./model/api-model.ts";
import { acceptedClaim, type ExportKey, isBound } from "./model/bindings.ts";
import type { ApiExportViewOptions } from "./options.ts";
import { hasIdentity } from "./served/export-resources.ts";

/** Parameters in the path of the view. */
export interface ViewParams {
  readonly exportCluster: string;
  readonly export: string;
  readonly cluster: string;
}

type Request = AuthorizeRequest<ViewParams>;

const NO: Decision = deny("access denied");
/** Interval for the authorization of open watches, in ms. */
const EVERY = 1_000;

/** Returns the export of a request. */
export function exportOf({ exportCluster, export: name }: ViewParams): ExportKey {
  return { cluster: exportCluster, name };
}

/** Authorizer of an export's view, with resources to dispose. */
export interface ExportAccess extends AsyncDisposable {
  readonly authorize: Authorizer<ViewParams>;
}

/**
 * Authorizes requests by the three rules of kcp's view, all of which must allow. The workspace has bound the resource, or grants it
 * to the provider. The export's workspace grants the caller the content of the export. The policy of another export allows resources
 * that are claimed of it. Security: callers learn no reason for a denial. A failed check gives 500 or 503, and a missing export 404
 * to callers with access.
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
  const authorize = (request: Request): Decision | Promise<Decision> => {
    const { user, params } = request;
    if (user.in(MASTERS_GROUP)) return checkServed(model, request);
    if (!isClusterName(params.exportCluster)) return NO;
    const of = exportOf(params);
    if (!boundApi(model, request, of).allowed) return NO;
    return ifAllowed(content(request), () =>
      ifAllowed(policies.decide(request, of), () => checkServed(model, request)),
    );
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([content[Symbol.asyncDispose](), policies[Symbol.asyncDispose]()]);
    },
  };
}

/** Returns the denial, or the decision of what follows. Synchronous where both are, as with cached verdicts. */
function ifAllowed(
  decision: Decision | Promise<Decision>,
  next: () => Decision | Promise<Decision>,
): Decision | Promise<Decision> {
  if (decision instanceof Promise) return decision.then((late) => (late.allowed ? next() : NO));
  return decision.allowed ? next() : NO;
}

/** @throws ApiError 404 without an export to serve, 400 for a namespace across all logical clusters */
function checkServed(model: ApiModel, { params, isResource, namespace, verb }: Request): Decision {
  if (!hasIdentity(model.export(exportOf(params)))) throw ApiError.notFoundPath();
  if (params.cluster === WILDCARD && isResource && namespace !== "" && (verb === "list" || verb === "watch"))
    throw ApiError.badRequest(
      `a namespace across all logical clusters is not supported: remove namespace ${quote(namespace)}, or name one logical cluster`,
    );
  return allow();
}

const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/**
 * Checks that a workspace has bound an export, and has the resource through it or grants the provider this verb (kcp's
 * `boundAPIAuthorizer`). Requests for all workspaces need no check: resources that are not bound or claimed do not appear there.
 *
 * @throws ApiError 500 without the export
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

/** Options of {@link Policies}. */
interface PoliciesOptions {
  readonly upstream: Upstream;
  readonly allowCache?: number;
  readonly onError?: (error: unknown) => void;
}

/** Request, with the logical cluster of the policy. */
interface Question extends Request {
  readonly policyCluster: string;
}

/**
 * Checks whether the owners of claimed resources allow providers to use them (`spec.maximalPermissionPolicy`). It sends a review to
 * their workspaces, for the caller's name in such policies, and skips the rules for workspace access.
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

  decide(request: Request, of: ExportKey): Decision | Promise<Decision> {
    const { isResource, group, resource } = request;
    if (!isResource) return allow();
    const claim = this.#model
      .export(of)
      ?.spec?.permissionClaims?.find((one) => (one.group ?? "") === group && one.resource === resource);
    const { identityHash = "" } = claim ?? {};
    if (identityHash === "") return allow();
    const exports = this.#model.exportsOf(identityHash);
    return exports.length === 0 ? NO : this.#allOf(exports, request);
  }

  /** Requests the decision of the policy of each export. */
  async #allOf(exports: readonly APIExport[], request: Request): Promise<Decision> {
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

/** Returns the request for a review in another logical cluster. */
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

/** Accepts only cluster names, since a path may lead to another server. @throws ApiError 403, or 404 for `system:masters` */
export function located(cluster: string, user: User): string {
  if (cluster === WILDCARD || isClusterName(cluster)) return cluster;
  if (user.in(MASTERS_GROUP)) throw ApiError.notFoundPath();
  const message = "a logical cluster is called by its name here, not by its path: use spec.cluster of the Workspace";
  throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}
