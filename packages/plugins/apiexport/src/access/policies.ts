import { type SubjectAccessReviewAuthorizer, subjectAccessReview } from "@virtual-workspaces/forwarding";
import { type AuthorizeRequest, allow, type Decision, deny } from "@virtual-workspaces/framework";
import { clusterOf, prefixedUser } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel, ExportKey } from "../model/model.ts";
import type { ViewParams } from "./access.ts";

type Request = AuthorizeRequest<ViewParams>;

/** How exports' workspaces are asked. */
export interface PoliciesOptions {
  readonly upstream: Upstream;
  readonly allowCache?: number;
  readonly onError?: (error: unknown) => void;
}

const NO: Decision = deny("access denied");

/** A request, and whose policy it is about. */
interface Question extends Request {
  readonly policyCluster: string;
}

/**
 * Whether those who export what is claimed let providers have it (`spec.maximalPermissionPolicy`): asked in their workspaces,
 * about the caller as such policies name them, and past the rules for entering there.
 */
export class Policies implements AsyncDisposable {
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
