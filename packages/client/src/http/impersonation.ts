import { ApiError } from "@virtual-workspaces/apimachinery";

/** As whom requests are made, by whoever may do that (`Impersonate-*`). */
export interface Impersonation {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** By which headers a server is told who asks. */
export interface CallerHeaders {
  readonly user: string;
  readonly uid: string;
  readonly group: string;
  /** What names of extra come behind. */
  readonly extraPrefix: string;
}

const IMPERSONATE = namesBelow("Impersonate");

/** Those that API servers believe of a front proxy that say nothing else: `X-Remote-User`, `-Uid`, `-Group`, `-Extra-*`. */
export const REMOTE_HEADERS: CallerHeaders = namesBelow("X-Remote");

/**
 * `Impersonate-*`, as flat pairs: one line for each group and each value.
 *
 * @throws ApiError 400 on a name, uid or group that would be none, or another one, once it is a header
 */
export function impersonationHeaders(impersonation: Impersonation): string[] {
  return callerHeaders(IMPERSONATE, impersonation);
}

/**
 * `X-Remote-*`, as flat pairs: how a front proxy, and a shard of kcp that keeps a resource in a view, say who asks. They are believed from
 * whom the other server takes for such a proxy, by a client certificate.
 *
 * @param names @default {@link REMOTE_HEADERS}
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

/** HTTP takes spaces off the ends of a value; and without a user's name requests are made as ourselves, with all our rights. */
function carried(field: string, text: string): string {
  if (text !== "" && text === text.trim() && !/\p{Cc}/u.test(text)) return text;
  throw ApiError.badRequest(
    `impersonate: ${field} ${JSON.stringify(text)}: it may not be empty, begin or end with a space, or have control characters`,
  );
}

/** Names of headers come in no certain case, and not every proxy lets all through that may stand in one. */
function headerKey(key: string): string {
  const escaped = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return key.replace(/[^a-z0-9.-]/gu, escaped);
}
