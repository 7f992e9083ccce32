import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { type Impersonation, impersonationHeaders } from "@virtual-workspaces/client/http";
import type { Identity } from "@virtual-workspaces/framework";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from "@virtual-workspaces/framework/authn";
import { HOPS_HEADER } from "@virtual-workspaces/framework/request";
import type { Scope } from "@virtual-workspaces/framework/storage";

const SYSTEM = "system:";
const SERVICE_ACCOUNT = "system:serviceaccount:";
const SERVICE_ACCOUNTS = "system:serviceaccounts";
/** Where the service accounts of Kubernetes' own controllers are. */
const KUBE_SYSTEM = "kube-system";
const COMMON: ReadonlySet<string> = new Set([AUTHENTICATED, UNAUTHENTICATED, SERVICE_ACCOUNTS]);
/** Another identity whose rights count too (kcp's warrants). */
const WARRANT = "authorization.kcp.io/warrant";
/** Header values lose spaces at their ends, and control characters end them: another user would come out, or several. */
const CARRIED = /^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u;

/**
 * As whom the other server is asked. `impersonate`: as {@link impersonated} says, by a credential of ours that may
 * impersonate; the other server's own rules then decide. `none`: as ourselves, whoever asks: then `authorize` of the view is
 * all that decides. A function: as whom it says, or as ourselves; what it makes of names such as `system:masters` is its own
 * affair. It is asked for every request, and what it throws is answered; a watch of the other server stays as whom it began.
 * It is told where objects are asked for, too, unless what is asked for are none.
 */
export type OutboundIdentity =
  | "impersonate"
  | "none"
  | ((identity: Identity, scope?: Pick<Scope, "cluster" | "params">) => Impersonation | undefined);

/** As whom the other server is asked on behalf of a caller; `undefined` as ourselves. @throws ApiError 403 */
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
 * The caller, as another server may be asked on their behalf: name, uid, groups and extra, without what every API server
 * gives rights to by itself, which being it here must not be worth anything there. Groups that begin with `system:` are left
 * out, `system:masters` first of all, but for those of everybody and of service accounts; so is a warrant. Somebody whose
 * own name is such a one (a node, a controller of `kube-system`) is not passed on at all.
 *
 * @throws ApiError 403
 */
export function impersonated({ name, uid, groups, extra }: Identity): Impersonation {
  if (isReserved(name)) throw reserved(name);
  const { [WARRANT]: _warrant, ...rest } = extra;
  return { name, ...(uid === "" ? {} : { uid }), groups: groups.filter(mayCross), extra: rest };
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
    `${quote(name)} is a name that API servers give rights to by themselves: the server behind this view is not asked ` +
    "as it. Ask as somebody else, or there directly";
  return ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}

/** @throws ApiError 403 on what would come out as something else at the other server */
function checkCarried({ name, uid, groups = [], extra = {} }: Impersonation): void {
  const values = Object.values(extra).flat();
  const parts = [["name", name], ...(uid === undefined ? [] : [["uid", uid]]), ...groups.map((one) => ["group", one])];
  for (const [what = "", text = ""] of [...parts, ...values.filter((one) => one !== "").map((one) => ["extra", one])]) {
    if (CARRIED.test(text) && text.isWellFormed()) continue;
    const message = `the caller's ${what} ${quote(text)} cannot be told to the server behind this view as it is`;
    throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
  }
  if (Object.hasOwn(extra, "") || Object.keys(extra).some((key) => !key.isWellFormed()))
    throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: "the caller has extra under no name" });
}

/**
 * What every request to another server says, as flat pairs: through how many servers it has come, through which, and on
 * whose behalf. Made anew for each; nothing is taken over from the headers that the caller sent.
 *
 * @throws ApiError 403 when it cannot be on behalf of this caller
 */
export function outboundHeaders(
  scope: Pick<Scope, "identity" | "hops" | "via" | "cluster" | "params">,
  how: OutboundIdentity,
): string[] {
  const { hops = 0, via } = scope;
  const as = outboundIdentity(how, scope.identity, scope);
  return [
    ...[HOPS_HEADER, String(hops + 1)],
    ...(via === undefined ? [] : ["Via", via]),
    ...(as === undefined ? [] : impersonationHeaders(as)),
  ];
}
