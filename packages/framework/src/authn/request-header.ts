import { authenticatedUser, type User } from "../request/user.ts";
import { BoundedCache } from "../util/bounded-cache.ts";
import type { Authenticator } from "./authenticator.ts";
import { type CaSource, handshakeTrust } from "./authorities.ts";
import { Peers } from "./client-certificates.ts";
import { extraTexts, HeaderNames, headerText, headerTexts } from "./headers.ts";

/**
 * Proxies whose identity headers are trusted, which are clients with a certificate of one of these authorities, and the names
 * of the headers (Kubernetes' `--requestheader-*` flags).
 */
export type RequestHeaderOptions = CaSource & {
  /** Common names that such a certificate may have. @default any: then only proxies may get certificates of that authority */
  readonly allowedNames?: readonly string[];
  /** Headers for the user name; the first with a value counts. @default ["X-Remote-User"] */
  readonly userHeaders?: readonly string[];
  /** @default ["X-Remote-Uid"] */
  readonly uidHeaders?: readonly string[];
  /** Headers for groups; each line is one group. @default ["X-Remote-Group"] */
  readonly groupHeaders?: readonly string[];
  /**
   * Prefixes of headers for extra attributes. The rest of the name is the key, percent-decoded, in lower case.
   * @default ["X-Remote-Extra-"]
   */
  readonly extraHeaderPrefixes?: readonly string[];
};

const NAME = "request headers";

/**
 * Trusts a proxy that authenticated the caller (Kubernetes' request header authentication): kcp's front proxy, or a
 * kube-apiserver in front of an aggregated API server. Headers of other clients are ignored. Security: a duplicate user or
 * uid, and bytes that are not UTF-8, get 400, because the proxy alone cannot have sent such headers.
 *
 * @throws Error when `ca` or `caFile` holds no certificate, or the file cannot be read
 */
export function requestHeader(options: RequestHeaderOptions): Authenticator {
  const { allowedNames = [] } = options;
  const users = lowerCase(options.userHeaders ?? ["X-Remote-User"]);
  const uids = lowerCase(options.uidHeaders ?? ["X-Remote-Uid"]);
  const groups = lowerCase(options.groupHeaders ?? ["X-Remote-Group"]);
  const prefixes = lowerCase(options.extraHeaderPrefixes ?? ["X-Remote-Extra-"]);
  const proxies = new Peers(
    { source: options, name: NAME },
    ({ name }) => allowedNames.length === 0 || allowedNames.includes(name) || undefined,
  );
  const identityHeaders = [...users, ...uids, ...groups, ...prefixes.map((prefix) => `${prefix}*`)];
  const own = new HeaderNames(identityHeaders);
  const known = new BoundedCache<Known>({ capacity: REMEMBERED, weigh: ({ size }) => size });
  return {
    name: NAME,
    ...handshakeTrust(options),
    identityHeaders,
    reason: (request, connection) => proxies.reason(request, connection),
    authenticate: (request, connection): User | undefined => {
      if (proxies.of(request, connection) === undefined) return undefined;
      const told = own.linesOf(request.rawHeaders);
      const key = told.join("\n"); // a separator that no line can contain
      return known.get(key, () => ({ user: userBy(told), size: key.length })).user;
    },
  };

  function userBy(told: readonly string[]): User | undefined {
    const name = first(told, users);
    if (name === undefined) return undefined;
    return authenticatedUser({
      name,
      uid: first(told, uids) ?? "",
      groups: groups.flatMap((header) => headerTexts(told, header)).filter((group) => group !== ""),
      extra: extraTexts(told, prefixes),
    });
  }
}

/** User that certain lines name, and the length of the lines. */
interface Known {
  readonly user: User | undefined;
  readonly size: number;
}

/** Limit of cached lines, in characters: a proxy repeats the same lines for a user. */
const REMEMBERED = 2 ** 22;

/** Returns the value of the first of several headers that has one. */
function first(rawHeaders: readonly string[], names: readonly string[]): string | undefined {
  return names.map((name) => headerText(rawHeaders, name)).find((value) => value !== undefined && value !== "");
}

function lowerCase(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase());
}
