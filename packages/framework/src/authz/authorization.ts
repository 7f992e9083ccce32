import type { RequestInfo } from "../request/request-info.ts";
import { AUTHENTICATED, type User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";

/**
 * Result of an authorization: allowed, or denied with a reason. Security: the reason becomes part of the 403 message, so it
 * must not contain secrets.
 */
export type Decision =
  | { readonly allowed: true; readonly annotations?: DecisionAnnotations }
  | {
      readonly allowed: false;
      readonly reason: string;
      /** Whether later members of a `union` are skipped (Kubernetes' `DecisionDeny`). @default false, no opinion */
      readonly final?: boolean;
      readonly annotations?: DecisionAnnotations;
    };

/**
 * Annotations for audit events on how the request was decided, by key; never shown to the caller. A getter is read when an
 * event is written, and never without an audit log.
 */
export type DecisionAnnotations = Readonly<Record<string, string>>;

/** Request to authorize: user, path parameters and action. */
export interface AuthorizeRequest<Params = Readonly<Record<string, string>>> extends RequestInfo {
  readonly user: User;
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** Authorizes the requests of a view. There is no default: what it does not allow gets 403. A thrown error gets 500. */
export interface Authorizer<Params = Readonly<Record<string, string>>> {
  (request: AuthorizeRequest<Params>): Awaitable<Decision>;
  /**
   * Lists what a user may do, for SelfSubjectRulesReview (Kubernetes' `RuleResolver`). It must agree with the decisions.
   *
   * @default the authorizer is called for each verb of each served resource, and the review is marked incomplete
   */
  readonly rules?: (request: RulesRequest<Params>) => Awaitable<Rules>;
  /**
   * Interval at which open watches are authorized again, in ms; at least 100. A denial ends them with 410, and the client's
   * new list is denied; a thrown error has no effect.
   * @default never, as in Kubernetes: an open watch continues until it ends
   */
  readonly watchesEvery?: number;
}

/** User and path parameters to list rules for. */
export interface RulesRequest<Params = Readonly<Record<string, string>>> {
  readonly user: User;
  readonly params: Params;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Permissions of a user (Kubernetes' `SubjectRulesReviewStatus`). */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Whether the list may lack some rules. */
  readonly incomplete: boolean;
  /** Reason for an incomplete list, as text. */
  readonly evaluationError?: string;
}

/** Verbs on resources, `*` for any. Without `resourceNames` they apply to all names. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Methods in lower case on paths; a path may end with `*`. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Authenticated user and the user to impersonate. */
export interface ImpersonationRequest {
  /** Authenticated user. */
  readonly user: User;
  /** User that the impersonation headers name. */
  readonly impersonated: User;
  readonly params: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Authorizes impersonation: called for each part of the identity and, optionally, for the whole. */
export interface ImpersonationRule extends Authorizer<unknown> {
  /**
   * Called once, before the parts are authorized. Returns the user of the request if all parts are allowed, which can
   * restrict the identity; throws an `ApiError` to reject.
   * @default the user that the headers name
   */
  readonly become?: (request: ImpersonationRequest) => Awaitable<User>;
  /**
   * Whether Kubernetes' constrained impersonation (KEP-5284) is tried before the verb `impersonate`. The rule is then called
   * with `impersonate-on:<mode>:<verb>` for the request itself, and `impersonate:<mode>` for the parts, in the group
   * `authentication.k8s.io`. The modes are `associated-node`, `arbitrary-node`, `serviceaccount` and `user-info`.
   *
   * @default false
   */
  readonly constrained?: boolean;
}

const ALLOWED: Decision = Object.freeze({ allowed: true });

/**
 * Allows the request.
 *
 * @example
 * ```ts
 * import { type AuthorizeRequest, allow, deny } from "@virtual-workspaces/framework";
 *
 * const authorize = ({ user, params }: AuthorizeRequest<{ readonly cluster: string }>) =>
 *   user.in(`members:${params.cluster}`) ? allow() : deny(`ask an administrator of ${params.cluster} for access`);
 * ```
 * @see docs/how-to/authorization.md
 */
export function allow(): Decision {
  return ALLOWED;
}

/**
 * Denies the request with 403.
 *
 * @param reason what the caller can do about it; part of the message, so it must not contain secrets
 *
 * @example
 * ```ts
 * import { type AuthorizeRequest, allow, deny } from "@virtual-workspaces/framework";
 *
 * const authorize = ({ verb }: AuthorizeRequest<unknown>) =>
 *   verb === "get" || verb === "list" || verb === "watch" ? allow() : deny("this view is read-only");
 * ```
 * @see docs/how-to/authorization.md
 */
export function deny(reason: string): Decision {
  return { allowed: false, reason };
}

/**
 * Calls an authorizer; all calls go through here. Synchronous if the authorizer is.
 *
 * @throws Error when the result is not a decision, and whatever the authorizer throws
 */
export function decide<Params>(
  authorizer: Authorizer<Params>,
  question: AuthorizeRequest<Params>,
): Decision | Promise<Decision> {
  const decision = authorizer(question);
  return decision instanceof Promise ? decision.then(checked) : checked(decision);
}

function checked(decision: Decision): Decision {
  const { allowed } = decision;
  if (allowed === true || allowed === false) return decision;
  throw new Error("invalid result of authorize: return allow() or deny(reason)");
}

/** Subresources of core resources that open a connection into a container, a pod or a node. */
const WAYS_IN: ReadonlySet<string> = new Set([
  "nodes/proxy",
  "pods/attach",
  "pods/exec",
  "pods/portforward",
  "pods/proxy",
  "services/proxy",
]);

/**
 * Returns the additional request to authorize when a GET, such as a WebSocket, opens a connection into a pod: `create`, as
 * for POST. Security: without it, a user with read permission would get a terminal. Kubernetes does the same for exec, attach
 * and port-forward (KEP-4006, `AuthorizePodWebsocketUpgradeCreatePermission`, from 1.35 on). For proxies it requires only
 * `get`, though a tunnel through a node reaches all its containers.
 *
 * @returns `undefined` for all other requests, including resources of other groups, whose owners have their own rules
 */
export function connecting(info: RequestInfo): RequestInfo | undefined {
  if (!info.upgrade || info.verb !== "get" || info.group !== "") return undefined;
  return WAYS_IN.has(`${info.resource}/${info.subresource}`) ? { ...info, verb: "create" } : undefined;
}

/** Allows every authenticated user to query its own identity and permissions, as Kubernetes' `system:basic-user`. */
export function mayReview(user: User): Decision {
  return user.in(AUTHENTICATED) ? allow() : deny("");
}

/** Reviews by which callers query their own identity and permissions. */
const SELF_REVIEWS: ReadonlySet<string> = new Set([
  "authentication.k8s.io/v1/selfsubjectreviews",
  "authorization.k8s.io/v1/selfsubjectaccessreviews",
  "authorization.k8s.io/v1/selfsubjectrulesreviews",
]);

/** Returns whether a request is for one of the three self reviews, from the view or built in. */
export function isReview(info: RequestInfo): boolean {
  return (
    info.isResource &&
    info.identity === "" &&
    info.group.endsWith("k8s.io") &&
    SELF_REVIEWS.has(`${info.group}/${info.version}/${info.resource}`)
  );
}
