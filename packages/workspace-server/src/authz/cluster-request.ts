import type { AuthorizeRequest, User } from "@virtual-workspaces/framework";
import type { Named, RbacPolicy } from "@virtual-workspaces/framework/authz";
import { pathInfo } from "@virtual-workspaces/framework/request";
import { INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX } from "@virtual-workspaces/kcp/users";
import type { AuthorizerState } from "./authorizer-state.ts";
import { effectiveUsers } from "./effective-users.ts";

/** The parameters of `/clusters/:cluster`: the name of a logical cluster, `*` for all. */
export interface ClusterParams {
  readonly cluster: string;
}

/** What is asked when somebody wants to enter a logical cluster, whatever for: kcp's verb `access` on `/`. */
export function enteringQuestion(user: User, cluster: string): AuthorizeRequest<ClusterParams> {
  return { ...ENTERING, user, params: { cluster } };
}

const ENTERING: Omit<AuthorizeRequest<ClusterParams>, "user" | "params"> = {
  ...pathInfo("access", "/"),
  // Nobody leaves: it is answered at once.
  signal: new AbortController().signal,
};

/** One question on its way through the steps, and what several of them want to know. */
export class ClusterRequest {
  readonly question: AuthorizeRequest<ClusterParams>;
  readonly state: AuthorizerState;
  /** The logical cluster, "" where the request is about none or about all. */
  readonly cluster: string;
  /** Whether the steps that guard the workspace are skipped (kcp's deep SubjectAccessReview). */
  readonly deep: boolean;
  #users: readonly Named[] | undefined;

  constructor(question: AuthorizeRequest<ClusterParams>, state: AuthorizerState, deep: boolean) {
    const { cluster = "" } = question.params as Partial<ClusterParams>;
    this.question = question;
    this.state = state;
    this.cluster = cluster === "*" ? "" : cluster;
    this.deep = deep && question.group !== "authorization.k8s.io";
  }

  /** Whose bindings count. */
  get users(): readonly Named[] {
    this.#users ??= effectiveUsers(this.question.user, this.cluster);
    return this.#users;
  }

  /** Whether one of {@link users} is in a group. */
  in(group: string): boolean {
    return this.users.some(({ groups }) => groups.includes(group));
  }

  /** The policies of a logical cluster: its own, and what is replicated of it. */
  policies(cluster: string): readonly RbacPolicy[] {
    return [this.state.policy(cluster), this.state.replicated?.(cluster)].filter((one) => one !== undefined);
  }
}

/** What views of starting and ending workspaces add to a request that they have authorized. */
export const LIFECYCLE_GROUP_PREFIXES: readonly string[] = [INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX];
