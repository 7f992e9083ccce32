import type { RequestInfo } from "../request/request-info.ts";
import { AUTHENTICATED, type User } from "../request/user.ts";
import { type AuthorizeRequest, type Authorizer, allow, deny, type Rules } from "./authorization.ts";

/**
 * Lets members of any of these groups do everything: `groups("system:masters")` is Kubernetes' authorizer of privileged
 * groups, in a union before `rbac()`, which knows no such group.
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
  if (names.length === 0) throw new Error("groups: name at least one");
  if (names.some((name) => typeof name !== "string" || name === ""))
    throw new Error("groups: a name must not be empty");
  const wanted = new Set(names);
  return authorizerBy((user) => user.groups.some((group) => wanted.has(group)), "you are in no group that may do this");
}

/**
 * Lets everybody do everything whose credentials were accepted.
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

/** One that lets some users do everything, and others nothing. */
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
 * Lets nobody write: asks `inner` about reads, refuses everything else. Reads are get, list and watch of objects, get of
 * their `/status` and `/scale`, and GET and HEAD of paths that are no objects (discovery). Other subresources are no reads
 * even by GET, since GET is how a terminal or a tunnel is opened, and neither is anything that asks for an upgrade. To
 * allow one, say so: `union(readOnly(), rbac({…}))`. It lists no rules, which could not leave subresources out: for a rules
 * review it is asked about all that is served.
 *
 * @param inner who may read. @default everybody who has logged in
 */
export function readOnly<Params = unknown>(inner: Authorizer<Params> = authenticated()): Authorizer<Params> {
  const authorizer = (request: AuthorizeRequest<Params>) =>
    isRead(request) ? inner(request) : deny("this can only be read");
  const { watchesEvery } = inner;
  return watchesEvery === undefined ? authorizer : Object.assign(authorizer, { watchesEvery });
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const METHODS: ReadonlySet<string> = new Set(["get", "head"]);
const PARTS: ReadonlySet<string> = new Set(["", "status", "scale"]);

function isRead({ isResource, verb, subresource, upgrade }: RequestInfo): boolean {
  if (upgrade) return false;
  if (!isResource) return METHODS.has(verb);
  return READS.has(verb) && PARTS.has(subresource);
}
