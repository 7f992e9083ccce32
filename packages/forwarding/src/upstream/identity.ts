import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { type Impersonation, impersonationHeaders, remoteHeaders } from "@virtual-workspaces/client/http";
import type { Identity } from "@virtual-workspaces/framework";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import { HOPS_HEADER } from "@virtual-workspaces/framework/request";
import type { Scope } from "@virtual-workspaces/framework/storage";

const SYSTEM = "system:";
const SERVICE_ACCOUNT = "system:serviceaccount:";
const SERVICE_ACCOUNTS = "system:serviceaccounts";
/** Namespace of the service accounts of Kubernetes' controllers. */
const KUBE_SYSTEM = "kube-system";
const COMMON: ReadonlySet<string> = new Set([AUTHENTICATED, UNAUTHENTICATED, SERVICE_ACCOUNTS]);
/** Extra key of an additional identity with rights (kcp's warrants). */
const WARRANT = "authorization.kcp.io/warrant";
/** Security: headers lose spaces at their ends, and control characters end them. Other texts would become another user, or several. */
const CARRIED = /^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u;

/**
 * Identity of upstream requests. `impersonate`: the caller, as {@link impersonated} returns it; our credential needs
 * impersonation rights, and the upstream authorizes. `none`: our own, for any caller. Security: then only `authorize` of the
 * view protects the upstream. Function: the user that it returns, or our own; it must handle names such as `system:masters`
 * itself. It is called for every request, and its errors become the response; an upstream watch keeps its identity. It gets
 * the scope too if the request is for objects. To return the same frozen object each time, with frozen groups and extra, saves
 * encoding it again.
 */
export type OutboundIdentity =
  | "impersonate"
  | "none"
  | ((identity: Identity, scope?: Pick<Scope, "cluster" | "params">) => Impersonation | undefined);

const NONE: readonly string[] = Object.freeze([]);
const NOTHING: Identity["extra"] = Object.freeze({});

/** Returns the user to impersonate for a caller; `undefined` for our own identity. @throws ApiError 403 */
export function outboundIdentity(
  how: OutboundIdentity,
  identity: Identity,
  scope?: Pick<Scope, "cluster" | "params">,
): Impersonation | undefined {
  if (how === "none") return undefined;
  const as = how === "impersonate" ? impersonated(identity) : how(identity, scope);
  if (as !== undefined) checkCarried(as);
  return as;
}

/**
 * Returns the caller's name, uid, groups and extra for impersonation. Security: rights that every API server grants by itself
 * must not carry over. So it omits groups that begin with `system:`, above all `system:masters`, except those of all users
 * and of service accounts; and warrants. A user whose own name has such rights (a node, a controller of `kube-system`) is
 * rejected.
 *
 * @throws ApiError 403
 */
export function impersonated({ name, uid, groups, extra }: Identity): Impersonation {
  if (isReserved(name)) throw reserved(name);
  const { [WARRANT]: _warrant, ...rest } = extra;
  return { name, ...(uid === "" ? {} : { uid }), groups: groups.filter(mayCross), extra: rest };
}

/** Whether an identity and all of its parts are frozen. */
export function isImmutable(as: Impersonation): boolean {
  const { groups = NONE, extra = NOTHING } = as;
  return [as, groups, extra, ...Object.values(extra)].every((part) => Object.isFrozen(part));
}

function isReserved(name: string): boolean {
  if (!name.startsWith(SYSTEM) || name === ANONYMOUS) return false;
  return !name.startsWith(SERVICE_ACCOUNT) || name.startsWith(`${SERVICE_ACCOUNT}${KUBE_SYSTEM}:`);
}

function mayCross(group: string): boolean {
  if (!group.startsWith(SYSTEM) || COMMON.has(group)) return true;
  return group.startsWith(`${SERVICE_ACCOUNTS}:`) && group !== `${SERVICE_ACCOUNTS}:${KUBE_SYSTEM}`;
}

function reserved(name: string): ApiError {
  const message =
    `cannot act as ${quote(name)} at the server behind this view: API servers grant rights to that name by themselves; ` +
    "use another user, or send the request to that server";
  return ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}

/** @throws ApiError 403 for a text that would change in a header */
function checkCarried({ name, uid, groups = [], extra = {} }: Impersonation): void {
  const values = Object.values(extra).flat();
  const parts = [["name", name], ...(uid === undefined ? [] : [["uid", uid]]), ...groups.map((one) => ["group", one])];
  for (const [what = "", text = ""] of [...parts, ...values.filter((one) => one !== "").map((one) => ["extra", one])]) {
    if (CARRIED.test(text) && text.isWellFormed()) continue;
    const message = `the caller's ${what} ${quote(text)} cannot be forwarded to the server behind this view: a header would change it`;
    throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
  }
  if (Object.hasOwn(extra, "") || Object.keys(extra).some((key) => !key.isWellFormed()))
    throw ApiError.forbidden({
      resource: { group: "", resource: "" },
      message: "the caller has extra with an empty key",
    });
}

/** Returns the headers that name a caller. */
export function callerHeaders(as: Impersonation, headers: "Impersonate" | "X-Remote" = "Impersonate"): string[] {
  return headers === "X-Remote" ? remoteHeaders(as) : impersonationHeaders(as);
}

/**
 * Returns the headers of every upstream request as flat pairs: hops, route and identity. Copies no header of the
 * caller.
 *
 * @throws ApiError 403 if headers cannot represent the caller
 */
export function outboundHeaders(
  scope: Pick<Scope, "identity" | "hops" | "via" | "cluster" | "params">,
  how: OutboundIdentity,
  headers: "Impersonate" | "X-Remote" = "Impersonate",
): string[] {
  const { hops = 0, via } = scope;
  const as = outboundIdentity(how, scope.identity, scope);
  return [
    ...[HOPS_HEADER, String(hops + 1)],
    ...(via === undefined ? [] : ["Via", via]),
    ...(as === undefined ? [] : callerHeaders(as, headers)),
  ];
}
