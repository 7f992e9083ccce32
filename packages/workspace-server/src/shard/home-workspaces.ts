import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { AuthorizeRequest, GetOptions, Scope, ServedResource, Storage } from "@virtual-workspaces/framework";
import { ROOT_CLUSTER, TENANCY_GROUP, Workspace } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/asked.ts";
import { ClusterRoleBinding } from "../kinds/rbac/kinds.ts";
import { type HomeOptions, homeWorkspace } from "../workspaces/home.ts";

/** What stands for the home of whoever asks. */
const HOME = "~";

/** The list of what is served in `root`, in which the Workspace `~` is the home of whoever asks for it. */
export class HomeWorkspaces {
  readonly #options: HomeOptions;
  readonly #lists = new WeakMap<readonly ServedResource[], readonly ServedResource[]>();
  /** A watch on a resource goes on as long as the resource is the same, whatever is served besides. */
  readonly #workspaces = new WeakMap<ServedResource, ServedResource>();

  constructor(options: Omit<HomeOptions, "roleBindings">) {
    this.#options = { ...options, roleBindings: ClusterRoleBinding };
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
    const list = this.#lists.get(served) ?? served.map((each) => (isWorkspace(each) ? this.#withHomes(each) : each));
    this.#lists.set(served, list);
    return list;
  }

  /** Wherever workspaces come from: all else is asked of that. */
  #withHomes(served: ServedResource): ServedResource {
    const known = this.#workspaces.get(served);
    if (known !== undefined) return known;
    const { storage } = served;
    const get = (scope: Scope, key: ObjectKey, options: GetOptions): ReturnType<NonNullable<Storage["get"]>> =>
      key.name === HOME ? this.#home(options) : storage.get?.(scope, key, options);
    const homes = new Proxy(storage, {
      get: (target, name) => {
        if (name === "get") return get;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const resource = Object.freeze({ ...served, storage: homes });
    this.#workspaces.set(served, resource);
    return resource;
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
