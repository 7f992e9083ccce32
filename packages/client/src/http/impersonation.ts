import { ApiError } from "@virtual-workspaces/apimachinery";

/** Identity that requests impersonate (`Impersonate-*`). The client's own user needs impersonation rights. */
export interface Impersonation {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Names of the headers that carry the caller's identity. */
export interface CallerHeaders {
  readonly user: string;
  readonly uid: string;
  readonly group: string;
  /** Prefix of the headers for extra fields. */
  readonly extraPrefix: string;
}

const IMPERSONATE = namesBelow("Impersonate");

/** Default names of the headers that a front proxy sets: `X-Remote-User`, `-Uid`, `-Group`, `-Extra-*`. */
export const REMOTE_HEADERS: CallerHeaders = namesBelow("X-Remote");

/**
 * Returns `Impersonate-*` headers as flat pairs, one for each group and value.
 *
 * @throws ApiError 400 for a name, uid or group that is empty or would change in a header
 */
export function impersonationHeaders(impersonation: Impersonation): string[] {
  return callerHeaders(IMPERSONATE, impersonation);
}

/**
 * Returns `X-Remote-*` headers as flat pairs, as a front proxy sends them, or a kcp shard that stores a resource in a view.
 * Security: the receiver must accept them only from clients with a trusted certificate.
 *
 * @param names
 * @default {@link REMOTE_HEADERS}
 * @throws as {@link impersonationHeaders}
 */
export function remoteHeaders(caller: Impersonation, names: CallerHeaders = REMOTE_HEADERS): string[] {
  return callerHeaders(names, caller);
}

function namesBelow(prefix: string): CallerHeaders {
  return Object.freeze({
    user: `${prefix}-User`,
    uid: `${prefix}-Uid`,
    group: `${prefix}-Group`,
    extraPrefix: `${prefix}-Extra-`,
  });
}

function callerHeaders(names: CallerHeaders, { name, uid, groups = [], extra = {} }: Impersonation): string[] {
  const lines = [names.user, carried("name", name)];
  if (uid !== undefined && uid !== "") lines.push(names.uid, carried("uid", uid));
  for (const group of groups) lines.push(names.group, carried("groups", group));
  for (const [key, values] of Object.entries(extra))
    for (const value of values) lines.push(`${names.extraPrefix}${headerKey(key)}`, value);
  return lines;
}

/** Security: HTTP strips spaces from a value. With an empty user name the request would run as ourselves, with all our rights. */
function carried(field: string, text: string): string {
  if (text !== "" && text === text.trim() && !/\p{Cc}/u.test(text)) return text;
  throw ApiError.badRequest(
    `invalid impersonate.${field} ${JSON.stringify(text)}: use a non-empty text without control characters or spaces at its ends`,
  );
}

/** Encodes a key, since headers have no fixed letter case, and not every proxy accepts all valid characters. */
function headerKey(key: string): string {
  const escaped = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return key.replace(/[^a-z0-9.-]/gu, escaped);
}
