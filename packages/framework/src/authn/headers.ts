// Headers that carry an identity: credentials, impersonation, and the ones that the server strips.

import type { IncomingMessage } from "node:http";
import { ApiError, dnsLabelProblems, nameProblems } from "@virtual-workspaces/apimachinery";
import { clientCertificate, Http1Request } from "../listener/connections.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User } from "../request/user.ts";
import { KnownNames } from "../util/known-names.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes a header value as UTF-8: Node gives each byte as one character. Returns `undefined` when the bytes are not UTF-8.
 */
export function utf8(value: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is ASCII stays as it is
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return decoder.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}

/** Set of header names; `x-*` matches every name that begins with `x-`. */
export class HeaderNames {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  /** @param names in lower case */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.filter((name) => !name.endsWith("*")));
    this.#prefixes = [...new Set(names.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1)))];
  }

  /** @param name in lower case */
  has(name: string): boolean {
    return this.#names.has(name) || this.#prefixes.some((prefix) => name.startsWith(prefix));
  }

  /** Returns the lines of these headers, names and values in turn, in their original order. */
  linesOf(rawHeaders: readonly string[]): string[] {
    return rawHeaders.filter((_text, at) => this.has((rawHeaders[at - (at % 2)] as string).toLowerCase()));
  }
}

/**
 * Returns the values of all lines of a header, in order and not joined.
 *
 * @param name in lower case
 * @throws ApiError 400 on a value that is not UTF-8
 */
export function headerTexts(rawHeaders: readonly string[], name: string): string[] {
  const texts: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name)
      texts.push(headerLine(name, rawHeaders[at + 1] as string));
  return texts;
}

/** Returns the value of a header that may occur once. @throws ApiError 400 when it occurs twice */
export function headerText(rawHeaders: readonly string[], name: string): string | undefined {
  const texts = headerTexts(rawHeaders, name);
  if (texts.length > 1) throw ApiError.badRequest(`header "${name}" was sent ${texts.length} times: send it once`);
  return texts[0];
}

/**
 * Returns the values of all headers whose names begin with one of `prefixes`, by the rest of the name. The rest is
 * percent-decoded if possible, as Kubernetes reads the keys of a user's `extra`.
 *
 * @param prefixes in lower case
 */
export function extraTexts(rawHeaders: readonly string[], prefixes: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = Object.create(null);
  for (const prefix of prefixes) {
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = (rawHeaders[at] as string).toLowerCase();
      if (!name.startsWith(prefix)) continue;
      const key = unescapedKey(name.slice(prefix.length));
      extra[key] ??= [];
      extra[key].push(headerLine(name, rawHeaders[at + 1] as string));
    }
  }
  return extra;
}

/** Returns the value of one header line. @throws ApiError 400 when it is not UTF-8 */
function headerLine(name: string, line: string): string {
  const decoded = utf8(line);
  if (decoded === undefined) throw ApiError.badRequest(`header "${name}" is not UTF-8: encode its value as UTF-8`);
  return decoded;
}

function unescapedKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // Kubernetes keeps a malformed escape unchanged.
  }
}

/** Kubernetes' subprotocol for browser tokens: the token follows the last dot, as base64url without padding. */
const SUBPROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** Returns the bearer token of a request; the scheme is case-insensitive. `undefined`: no token, or not UTF-8. */
export function bearerToken({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return subprotocolToken(headers);
  if (authorization.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return utf8(withoutBlanks(authorization.slice(7))) || undefined;
}

/** Trims the blanks that HTTP allows. Node gives bytes as characters, so other whitespace may be part of a letter. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function subprotocolToken(headers: IncomingMessage["headers"]): string | undefined {
  const protocols = headers["sec-websocket-protocol"];
  if (protocols === undefined || headers.upgrade === undefined) return undefined;
  const offered = protocols.split(",").map((one) => one.trim());
  const encoded = offered.filter((one) => one.startsWith(SUBPROTOCOL)).map((one) => one.slice(SUBPROTOCOL.length));
  // Kubernetes takes the first one; two tokens are rejected here.
  if (encoded.length !== 1) return undefined;
  return utf8(Buffer.from(encoded[0] as string, "base64url").toString("latin1")) || undefined;
}

/** One of the headers that the server strips from client requests. */
const HEADER = "X-Remote-Token";
const NAME: string = HEADER.toLowerCase();

/**
 * Returns proxy headers, as flat pairs, that give the caller's bearer token to a server with
 * `CoreOptions.takesCallersTokens`; empty if the caller sent none. Security: use it only for a server in the same process,
 * because the token gives its reader all permissions of the caller.
 */
export function callersTokenHeaders(token: string | undefined): readonly string[] {
  return token === undefined ? [] : [HEADER, Buffer.from(token).toString("base64url")];
}

/** Returns the token that {@link callersTokenHeaders} set. */
export function callersToken({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const [said, another] = headersDistinct[NAME] ?? [];
  if (said === undefined || another !== undefined) return undefined;
  return utf8(Buffer.from(said, "base64url").toString("latin1")) || undefined;
}

/** Headers that Kubernetes, kcp and their proxies trust. Authenticators add their own. */
const ALWAYS = ["authorization", "impersonate-*", "x-remote-*"];
const PROTOCOL = "sec-websocket-protocol";

/** Headers that carry an identity for this server. Security: they must not reach an upstream, which could trust them. */
export class IdentityHeaders {
  readonly #known: KnownNames;

  /** @param more in lower case; `x-*` stands for all that begin with `x-` */
  constructor(more: readonly string[]) {
    const names = new HeaderNames([...ALWAYS, ...more]);
    this.#known = new KnownNames((header) => names.has(header.toLowerCase().replaceAll("_", "-")));
  }

  /** Returns whether a header carries an identity, for this server or for an upstream that treats `_` as `-`. */
  has(header: string): boolean {
    return this.#known.has(header);
  }

  /** Returns the names of the identity headers that a request has besides `Authorization`, as the client writes them. */
  namesIn({ rawHeaders }: IncomingMessage): readonly string[] {
    const names = rawHeaders.filter((name, at) => at % 2 === 0 && this.has(name));
    return [...new Set(names)].filter((name) => name.toLowerCase() !== "authorization");
  }

  /** Returns whether a request carries credentials: a header, a browser's subprotocol, a cookie or a client certificate. */
  bringsCredentials(req: IncomingMessage): boolean {
    const { headers, rawHeaders } = req;
    if (headers.cookie !== undefined || headers[PROTOCOL] !== undefined) return true;
    if (rawHeaders.some((name, at) => at % 2 === 0 && this.has(name))) return true;
    return clientCertificate(req) !== undefined;
  }

  /**
   * Rejects a `Connection` header that lists an identity header. Security: a proxy in front that follows RFC 9110 drops the
   * listed headers, so a client could remove groups or scopes that the proxy sets.
   *
   * @throws ApiError 400 when an identity header is listed
   */
  refuseListed({ headers: { connection } }: IncomingMessage): void {
    if (connection === undefined || connection === "keep-alive" || connection === "close") return;
    const listed = connection.split(",").find((one) => this.has(one.trim()));
    if (listed !== undefined)
      throw ApiError.badRequest(`Connection header must not list "${listed.trim()}": remove it from the list`);
  }

  /** Strips the identity headers from a request, in every form in which a handler can read headers. */
  drop(req: IncomingMessage): void {
    const { headers, rawHeaders } = req;
    // Node.js derives the other form from the raw list on first access, by its old length: read it before that is cut.
    const isMade = !(req instanceof Http1Request) || req.isDistinct;
    const distinct = isMade ? req.headersDistinct : undefined;
    for (const name in headers) if (this.has(name)) delete headers[name];
    for (const name in distinct) if (this.has(name)) delete distinct[name];
    const lines: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      // Not destructured from an array, which would be made for each line.
      const name = rawHeaders[at] as string;
      if (this.has(name)) continue;
      const value = rawHeaders[at + 1] as string;
      if (name.length !== PROTOCOL.length || name.toLowerCase() !== PROTOCOL) lines.push(name, value);
      else if (withoutToken(value) !== "") lines.push(name, withoutToken(value));
    }
    req.rawHeaders = lines;
    dropTokens(headers, distinct);
  }
}

/** Removes the browser's token from the subprotocols that the client offers. */
function dropTokens(
  headers: IncomingMessage["headers"],
  distinct: IncomingMessage["headersDistinct"] | undefined,
): void {
  const offered = headers[PROTOCOL];
  if (offered === undefined) return;
  const left = withoutToken(offered);
  if (left === "") {
    delete headers[PROTOCOL];
    if (distinct !== undefined) delete distinct[PROTOCOL];
    return;
  }
  headers[PROTOCOL] = left;
  if (distinct !== undefined)
    distinct[PROTOCOL] = (distinct[PROTOCOL] ?? []).map(withoutToken).filter((line) => line !== "");
}

function withoutToken(offered: string): string {
  const protocols = offered.split(",").map((one) => one.trim());
  return protocols.filter((one) => !one.startsWith(SUBPROTOCOL)).join(", ");
}

/** Requested impersonation, and one authorization request for each part of the identity that differs. */
export interface Impersonation {
  readonly user: User;
  readonly questions: readonly RequestInfo[];
  /** Parts as sent. */
  readonly parts: ImpersonatedParts;
}

/** Parts of an identity to impersonate, without the groups that follow from its name. */
export interface ImpersonatedParts {
  readonly name: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA = "impersonate-extra-";
/** Limit of groups, and of extra values, in one request: each causes an authorization check. */
const MOST = 2500;
const SERVICE_ACCOUNT = "system:serviceaccount:";

/** Whether a request has an `Impersonate-*` header. Names stand at even indexes. */
export function namesImpersonation(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) if (isImpersonation(rawHeaders[at] as string)) return true;
  return false;
}

/**
 * Returns the impersonation that the `Impersonate-*` headers request, as Kubernetes reads them. Nearly all requests have none
 * (`undefined`), so this is checked first.
 *
 * @throws ApiError 400 on headers that contradict each other, are empty, not UTF-8 or too many
 */
export function impersonationOf(rawHeaders: readonly string[]): Impersonation | undefined {
  if (!namesImpersonation(rawHeaders)) return undefined;
  const name = headerText(rawHeaders, USER);
  const uid = headerText(rawHeaders, UID);
  const groups = [...new Set(headerTexts(rawHeaders, GROUP))];
  const extra = extraTexts(rawHeaders, [EXTRA]);
  if (name === undefined) throw ApiError.badRequest(`impersonation without a user: set the header ${USER}`);
  if ([name, uid, ...groups].includes(""))
    throw ApiError.badRequest('empty impersonation header: give each header that begins with "impersonate-" a value');
  const extraQuestions = Object.entries(extra).flatMap(([subresource, values]) =>
    [...new Set(values)].map((value) => question(AUTHENTICATION, "userextras", { name: value, subresource })),
  );
  refuseMany(GROUP, groups);
  refuseMany(`${EXTRA}*`, extraQuestions);
  const account = serviceAccountOf(name);
  const parts = { name, uid, groups, extra };
  return {
    user: impersonatedUser({ ...parts, groups: groups.length > 0 ? groups : (account?.groups ?? []) }),
    questions: [
      account === undefined
        ? question("", "users", { name })
        : question("", "serviceaccounts", { name: account.name, namespace: account.namespace }),
      ...groups.map((group) => question("", "groups", { name: group })),
      ...extraQuestions,
      ...(uid === undefined ? [] : [question(AUTHENTICATION, "uids", { name: uid })]),
    ],
    parts,
  };
}

/** Group of the parts of an identity that are no objects. */
export const AUTHENTICATION = "authentication.k8s.io";

/** Returns the `Impersonate-*` headers as flat pairs, for an upstream. @throws ApiError 400 if one is not UTF-8 */
export function impersonationLines(rawHeaders: readonly string[]): readonly string[] | undefined {
  if (!namesImpersonation(rawHeaders)) return undefined;
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isImpersonation(name)) lines.push(name, headerLine(name, rawHeaders[at + 1] as string));
  }
  return lines;
}

function refuseMany(header: string, named: readonly unknown[]): void {
  if (named.length > MOST)
    throw ApiError.badRequest(`header "${header}" has ${named.length} different values: send at most ${MOST}`);
}

function isImpersonation(text: string): boolean {
  return (text[0] === "I" || text[0] === "i") && text.slice(0, 12).toLowerCase() === "impersonate-";
}

/** Returns the user of an impersonation, who is authenticated unless the groups say otherwise. */
export function impersonatedUser({ name, uid, groups, extra }: ImpersonatedParts): User {
  const told = groups.includes(UNAUTHENTICATED) || (name !== ANONYMOUS && groups.includes(AUTHENTICATED));
  return new User({
    name,
    ...(uid === undefined ? {} : { uid }),
    groups: told ? groups : [...groups, name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED],
    extra,
  });
}

interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  /** Groups of every service account in the namespace. */
  readonly groups: readonly string[];
}

/** Returns the service account that a user name stands for. */
export function serviceAccountOf(user: string): ServiceAccount | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT)) return undefined;
  const [namespace = "", name = "", ...rest] = user.slice(SERVICE_ACCOUNT.length).split(":");
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || nameProblems(name).length > 0) return undefined;
  return { namespace, name, groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`] };
}

/** Returns the authorization request for a part of an identity. @param of the verb is `impersonate` unless it is given */
export function question(
  group: string,
  resource: string,
  of: Partial<Pick<RequestInfo, "verb" | "name" | "namespace" | "subresource">>,
): RequestInfo {
  const { verb = "impersonate", name = "", namespace = "", subresource = "" } = of;
  const about = { group, version: "v1", resource, identity: "", subresource, namespace, name };
  return { isResource: true, verb, path: "", longRunning: false, upgrade: false, ...about };
}
