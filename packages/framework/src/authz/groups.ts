import type { RequestInfo } from "../request/request-info.ts";
import { AUTHENTICATED, type User } from "../request/user.ts";
import { type AuthorizeRequest, type Authorizer, allow, deny, type Rules } from "./authorization.ts";

/**
 * Allows members of any of these groups everything. `groups("system:masters")` is Kubernetes' authorizer of privileged
 * groups; put it before `rbac()` in a union, which gives that group no permissions.
 *
 * @throws Error without a group, or on an empty name
 *
 * @example
 * ```ts
 * import { groups, readOnly, union } from "@virtual-workspaces/framework";
 *
 * // Librarians may do everything, members of "readers" may read.
 * const authorize = union(groups("librarians"), readOnly(groups("readers")));
 * ```
 * @see docs/how-to/authorization.md
 */
export function groups(...names: readonly string[]): Authorizer<unknown> {
  if (names.length === 0) throw new Error("groups: no group given: name at least one");
  if (names.some((name) => typeof name !== "string" || name === ""))
    throw new Error("groups: empty group name: give each group a name");
  const wanted = new Set(names);
  return authorizerBy((user) => user.groups.some((group) => wanted.has(group)), "you are in no group that may do this");
}

/**
 * Allows every request with accepted credentials.
 *
 * @example
 * ```ts
 * import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
 *
 * export default defineVirtualWorkspace({
 *   name: "hello",
 *   path: "/",
 *   authorize: authenticated(),
 *   handle: (_request, response) => void response.end("hello"),
 * });
 * ```
 * @see docs/how-to/authorization.md
 */
export function authenticated(): Authorizer<unknown> {
  return authorizerBy((user) => user.in(AUTHENTICATED), "log in first");
}

/** Allows some users everything, and denies all others. */
function authorizerBy(mayDoAll: (user: User) => boolean, reason: string): Authorizer<unknown> {
  return Object.assign(({ user }: { readonly user: User }) => (mayDoAll(user) ? allow() : deny(reason)), {
    rules: ({ user }: { readonly user: User }) => (mayDoAll(user) ? EVERYTHING : NOTHING),
  });
}

const EVERYTHING: Rules = Object.freeze({
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
});
const NOTHING: Rules = Object.freeze({ resourceRules: [], nonResourceRules: [], incomplete: false });

/**
 * Allows only reads, as decided by `inner`. Reads are get, list and watch of objects, get of their `/status` and `/scale`,
 * and GET and HEAD of non-resource paths (discovery). Security: other subresources are denied even for GET, because a GET can
 * open a terminal or a tunnel, and so are upgrade requests. Allow them explicitly: `union(readOnly(), rbac({…}))`. It lists
 * no rules, which could not exclude subresources: a rules review authorizes each served resource instead.
 *
 * @param inner decides who may read.
 * @default every authenticated user
 */
export function readOnly<Params = unknown>(inner: Authorizer<Params> = authenticated()): Authorizer<Params> {
  const authorizer = (request: AuthorizeRequest<Params>) =>
    isRead(request) ? inner(request) : deny("you may only read here");
  const { watchesEvery } = inner;
  return watchesEvery === undefined ? authorizer : Object.assign(authorizer, { watchesEvery });
}

/**
 * Applies a rule to requests in a namespace. Security: a list or watch of all namespaces has the namespace "" and so has a
 * request about a cluster-scoped kind. A rule that only compares names of namespaces would decide such a request by accident;
 * this one leaves it to `beyond`. Authenticated users may read discovery. It lists no rules: a rules review authorizes each
 * served resource instead.
 *
 * @param rule decides requests in the namespace `request.namespace`, which is never ""
 * @param beyond decides requests about objects outside a namespace
 * @default they are denied
 *
 * @example
 * ```ts
 * import { allow, byNamespace, deny, groups } from "@virtual-workspaces/framework";
 *
 * // Members of the group "team:red" may do everything in the namespace "red"; operators may also list all namespaces.
 * const authorize = byNamespace(
 *   ({ user, namespace }) => (user.in(`team:${namespace}`) ? allow() : deny(`ask the team ${namespace} for access`)),
 *   groups("operators"),
 * );
 * ```
 * @see docs/how-to/authorization.md
 */
export function byNamespace<Params = unknown>(
  rule: Authorizer<Params>,
  beyond: Authorizer<Params> = () => deny("name a namespace: you may not access all namespaces at once"),
): Authorizer<Params> {
  const discovery = readOnly(authenticated());
  const authorizer = (request: AuthorizeRequest<Params>) => {
    if (!request.isResource) return discovery(request);
    return request.namespace === "" ? beyond(request) : rule(request);
  };
  const every = Math.min(...[rule, beyond].map(({ watchesEvery = Number.POSITIVE_INFINITY }) => watchesEvery));
  return Number.isFinite(every) ? Object.assign(authorizer, { watchesEvery: every }) : authorizer;
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const METHODS: ReadonlySet<string> = new Set(["get", "head"]);
const PARTS: ReadonlySet<string> = new Set(["", "status", "scale"]);

function isRead({ isResource, verb, subresource, upgrade }: RequestInfo): boolean {
  if (upgrade) return false;
  if (!isResource) return METHODS.has(verb);
  return READS.has(verb) && PARTS.has(subresource);
}
