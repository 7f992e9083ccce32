import { ApiError } from "@virtual-workspaces/apimachinery";
import type { AuthorizeRequest, ServedResource } from "@virtual-workspaces/framework";
import type { GetOptions } from "@virtual-workspaces/framework/storage";
import { ROOT_CLUSTER, TENANCY_GROUP, Workspace } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/cluster-request.ts";
import { ClusterRoleBinding } from "../kinds/rbac.ts";
import { type HomeOptions, homeWorkspace } from "../workspaces/home.ts";
import { ServedOnce, servedFrom } from "./served-from.ts";

/** What stands for the home of whoever asks. */
const HOME = "~";

/** What is served in `root`, where the Workspace `~` is the home of whoever asks for it. */
export class HomeWorkspaces {
  readonly #options: HomeOptions;
  readonly #served: ServedOnce;

  constructor(options: Omit<HomeOptions, "roleBindings">) {
    this.#options = { ...options, roleBindings: ClusterRoleBinding };
    this.#served = new ServedOnce((served) => (isWorkspace(served) ? this.#withHomes(served) : served));
  }

  /** Whether a question is about the home of who asks: that has a rule of its own, instead of those of `root`. */
  isAsked(question: AuthorizeRequest<ClusterParams>): boolean {
    const { params, isResource, verb, group, version, resource, identity, subresource, name } = question;
    if (!isResource || verb !== "get" || name !== HOME || subresource !== "" || identity !== "") return false;
    if (group !== TENANCY_GROUP || version !== Workspace.version || resource !== Workspace.plural) return false;
    return params.cluster === ROOT_CLUSTER;
  }

  /** The same list as long as it is given the same. */
  in(served: readonly ServedResource[]): readonly ServedResource[] {
    return this.#served.of(served);
  }

  /** Wherever workspaces come from. */
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
