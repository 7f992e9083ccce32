import { authenticatedUser, type User } from "../request/user.ts";
import { BoundedCache } from "../util/bounded-cache.ts";
import type { Authenticator } from "./authenticator.ts";
import { type CaSource, handshakeTrust } from "./authorities.ts";
import { Peers } from "./client-certificates.ts";
import { extraTexts, HeaderNames, headerText, headerTexts } from "./headers.ts";

/**
 * Whose word counts about who asks: that of clients with a certificate of one of these authorities, and no others; and in
 * which headers they give it (Kubernetes' `--requestheader-*` flags).
 */
export type RequestHeaderOptions = CaSource & {
  /** Common names that such a certificate may have. @default any: then nobody but proxies may get one of that authority */
  readonly allowedNames?: readonly string[];
  /** The first that has a value names the user. @default ["X-Remote-User"] */
  readonly userHeaders?: readonly string[];
  /** @default ["X-Remote-Uid"] */
  readonly uidHeaders?: readonly string[];
  /** Each line of each is a group. @default ["X-Remote-Group"] */
  readonly groupHeaders?: readonly string[];
  /** What follows is the key, percent-decoded, in lower case. @default ["X-Remote-Extra-"] */
  readonly extraHeaderPrefixes?: readonly string[];
};

const NAME = "request headers";

/**
 * Believes a proxy that has authenticated the caller (Kubernetes' request header authentication): kcp's front proxy, or
 * a kube-apiserver in front of an aggregated one. The headers of anybody else mean nothing. A user or uid that comes
 * twice, and bytes that are no UTF-8, are 400: such a header was not the proxy's alone.
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
    authenticate: (request, connection): User | undefined => {
      if (proxies.of(request, connection) === undefined) return undefined;
      const told = own.linesOf(request.rawHeaders);
      const key = told.join("\n"); // which no line can hold
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

/** Whom certain lines name, and how long these are. */
interface Known {
  readonly user: User | undefined;
  readonly size: number;
}

/** Lines that are remembered, characters: a proxy says the same of a user again and again. */
const REMEMBERED = 2 ** 22;

/** What the first of several headers says that says anything. */
function first(rawHeaders: readonly string[], names: readonly string[]): string | undefined {
  return names.map((name) => headerText(rawHeaders, name)).find((value) => value !== undefined && value !== "");
}

function lowerCase(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase());
}
