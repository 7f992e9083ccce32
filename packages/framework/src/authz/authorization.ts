import type { RequestInfo } from "../request/request-info.ts";
import { AUTHENTICATED, type User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";

/** Yes, or no with a reason, which becomes part of the 403 message: keep secrets out of it. */
export type Decision =
  | { readonly allowed: true; readonly annotations?: DecisionAnnotations }
  | {
      readonly allowed: false;
      readonly reason: string;
      /** Whether those behind it in a `union` are not asked any more (Kubernetes' `DecisionDeny`). @default false, no opinion */
      readonly final?: boolean;
      readonly annotations?: DecisionAnnotations;
    };

/**
 * What audit events say besides about how it was decided, by annotation key: for auditors, never for the caller. A getter is
 * read when an event is written, and not at all where there is no audit.
 */
export type DecisionAnnotations = Readonly<Record<string, string>>;

/** What is asked: who, on which path parameters, to do what. */
export interface AuthorizeRequest<Params = Readonly<Record<string, string>>> extends RequestInfo {
  readonly user: User;
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** A virtual workspace's own rule. There is no default: what it does not allow is 403. A throw is 500. */
export interface Authorizer<Params = Readonly<Record<string, string>>> {
  (request: AuthorizeRequest<Params>): Awaitable<Decision>;
  /**
   * What somebody may do, for SelfSubjectRulesReview (Kubernetes' `RuleResolver`). It must agree with the decisions.
   *
   * @default each verb of each resource that is served is asked about, and the review says that it may be incomplete
   */
  readonly rules?: (request: RulesRequest<Params>) => Awaitable<Rules>;
  /**
   * How often it is asked again about open watches, ms; 100 at least. A no ends them with 410, and the client's new list is
   * refused; a throw decides nothing. @default never, as in Kubernetes: what is open stays open until it ends
   */
  readonly watchesEvery?: number;
}

/** Whose rules, and where. */
export interface RulesRequest<Params = Readonly<Record<string, string>>> {
  readonly user: User;
  readonly params: Params;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** What somebody may do (Kubernetes' `SubjectRulesReviewStatus`). */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Whether there may be more than is listed. */
  readonly incomplete: boolean;
  /** Why, for people. */
  readonly evaluationError?: string;
}

/** Verbs on resources, `*` for any; without `resourceNames` whatever they are called. */
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

/** Who wants to go on as whom. */
export interface ImpersonationRequest {
  /** Who logged in. */
  readonly user: User;
  /** Who they want to be, as the headers name them. */
  readonly impersonated: User;
  readonly params: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A server's rule about impersonation: asked about each part, and, if it wants to be, about the whole. */
export interface ImpersonationRule extends Authorizer<unknown> {
  /**
   * Asked once, before the parts are. Returns who the request goes on as when all parts are allowed, by which an identity
   * can be confined; throws an `ApiError` to refuse. @default whoever the headers name
   */
  readonly become?: (request: ImpersonationRequest) => Awaitable<User>;
}

const ALLOWED: Decision = Object.freeze({ allowed: true });

/**
 * Yes.
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
 * No, answered 403.
 *
 * @param reason what the caller can do about it; it is part of the message, so it must not tell secrets
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
 * Asks an authorizer: the one place that does. Synchronous where it is.
 *
 * @throws Error when it answers neither yes nor no, and what it throws
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
  throw new Error("authorize must return allow() or deny(reason)");
}

/** By which subresources of core resources a connection leads into a container, a pod or a node. */
const WAYS_IN: ReadonlySet<string> = new Set([
  "nodes/proxy",
  "pods/attach",
  "pods/exec",
  "pods/portforward",
  "pods/proxy",
  "services/proxy",
]);

/**
 * What has to be allowed besides for a connection into a pod that is opened by GET, as WebSockets are: `create`, as for one
 * that is opened by POST. Else whoever may only read would get a terminal. So does Kubernetes for exec, attach and
 * port-forward (KEP-4006, `AuthorizePodWebsocketUpgradeCreatePermission`, from 1.35 on); tunnels through proxies it lets
 * pass with `get` alone, though one through a node leads into all its containers.
 *
 * @returns `undefined` for whatever else there is, other groups' resources too, whose owners have their own rules
 */
export function connecting(info: RequestInfo): RequestInfo | undefined {
  if (!info.upgrade || info.verb !== "get" || info.group !== "") return undefined;
  return WAYS_IN.has(`${info.resource}/${info.subresource}`) ? { ...info, verb: "create" } : undefined;
}

/** Kubernetes' `system:basic-user`: whoever has logged in may ask who they are and what they may do. */
export function mayReview(user: User): Decision {
  return user.in(AUTHENTICATED) ? allow() : deny("");
}

/** The reviews by which callers ask who they are and what they may do. */
const SELF_REVIEWS: ReadonlySet<string> = new Set([
  "authentication.k8s.io/v1/selfsubjectreviews",
  "authorization.k8s.io/v1/selfsubjectaccessreviews",
  "authorization.k8s.io/v1/selfsubjectrulesreviews",
]);

/** Whether a request is about one of the three reviews, whoever serves it. */
export function isReview(info: RequestInfo): boolean {
  return (
    info.isResource &&
    info.identity === "" &&
    info.group.endsWith("k8s.io") &&
    SELF_REVIEWS.has(`${info.group}/${info.version}/${info.resource}`)
  );
}
