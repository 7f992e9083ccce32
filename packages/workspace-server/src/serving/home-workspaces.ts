import { ApiError } from "@virtual-workspaces/apimachinery";
import type { AuthorizeRequest, ServedResource } from "@virtual-workspaces/framework";
import type { GetOptions } from "@virtual-workspaces/framework/storage";
import { ROOT_CLUSTER, TENANCY_GROUP, Workspace } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/cluster-request.ts";
import { ClusterRoleBinding } from "../kinds/rbac.ts";
import { type HomeOptions, homeWorkspace } from "../workspaces/home.ts";
import { ServedOnce, servedFrom } from "./served-from.ts";

/** Name of the caller's home workspace. */
const HOME = "~";

/** Resources of `root`, where the Workspace `~` is the caller's home. */
export class HomeWorkspaces {
  readonly #options: HomeOptions;
  readonly #served: ServedOnce;

  constructor(options: Omit<HomeOptions, "roleBindings">) {
    this.#options = { ...options, roleBindings: ClusterRoleBinding };
    this.#served = new ServedOnce((served) => (isWorkspace(served) ? this.#withHomes(served) : served));
  }

  /** Whether a request is for the caller's home, which has a rule of its own instead of those of `root`. */
  isAsked(question: AuthorizeRequest<ClusterParams>): boolean {
    const { params, isResource, verb, group, version, resource, identity, subresource, name } = question;
    if (!isResource || verb !== "get" || name !== HOME || subresource !== "" || identity !== "") return false;
    if (group !== TENANCY_GROUP || version !== Workspace.version || resource !== Workspace.plural) return false;
    return params.cluster === ROOT_CLUSTER;
  }

  /** Returns the same list for the same argument. */
  in(served: readonly ServedResource[]): readonly ServedResource[] {
    return this.#served.of(served);
  }

  /** Adds `~` to any storage of Workspaces. */
  #withHomes(served: ServedResource): ServedResource {
    const { storage } = served;
    return servedFrom(served, {
      get: (scope, key, options) => (key.name === HOME ? this.#home(options) : storage.get?.(scope, key, options)),
    });
  }

  async #home({ user }: GetOptions): Promise<Workspace> {
    const answer = await homeWorkspace(user, this.#options);
    if (answer.kind === "ready") return answer.workspace;
    throw ApiError.tooManyRequests(answer.message, answer.retryAfterSeconds);
  }
}

function isWorkspace({ definition: { group, plural, version }, identity }: ServedResource): boolean {
  return group === TENANCY_GROUP && plural === Workspace.plural && version === Workspace.version && identity === "";
}
