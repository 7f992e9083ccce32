// Headers that say who the caller is, or wants to be: credentials, impersonation, and which of them go no further.

import type { IncomingMessage } from "node:http";
import { ApiError, dnsLabelProblems, nameProblems } from "@virtual-workspaces/apimachinery";
import { clientCertificate } from "../listener/connections.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User } from "../request/user.ts";
import { KnownNames } from "../util/known-names.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A header value as its sender meant it: its bytes are UTF-8, and Node gives each as a character of its own. `undefined`: they are not. */
export function utf8(value: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is ASCII stays as it is
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return decoder.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}

/** Names of headers; `x-*` stands for all that begin with `x-`. */
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

  /** Of all lines those of these headers, names and values in turn as they came. */
  linesOf(rawHeaders: readonly string[]): string[] {
    return rawHeaders.filter((_text, at) => this.has((rawHeaders[at - (at % 2)] as string).toLowerCase()));
  }
}

/**
 * What stands in the lines of a header, in order and not joined.
 *
 * @param name in lower case
 * @throws ApiError 400 on what is no UTF-8
 */
export function headerTexts(rawHeaders: readonly string[], name: string): string[] {
  const texts: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name)
      texts.push(headerLine(name, rawHeaders[at + 1] as string));
  return texts;
}

/** What a header says that may come once. @throws ApiError 400 when it comes twice */
export function headerText(rawHeaders: readonly string[], name: string): string | undefined {
  const texts = headerTexts(rawHeaders, name);
  if (texts.length > 1) throw ApiError.badRequest(`the header ${name} came ${texts.length} times: send it once`);
  return texts[0];
}

/**
 * What all headers say whose names begin with one of `prefixes`, by the rest of the name: percent-decoded where it can
 * be, as Kubernetes reads the keys of a user's `extra`.
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

/** What one line of a header says. @throws ApiError 400 on what is no UTF-8 */
function headerLine(name: string, line: string): string {
  const decoded = utf8(line);
  if (decoded === undefined) throw ApiError.badRequest(`the header ${name} is not UTF-8`);
  return decoded;
}

function unescapedKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // Kubernetes keeps what is malformed as it is
  }
}

/** Kubernetes' subprotocol for tokens of browsers: behind the last dot the token, base64url without padding. */
const SUBPROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** The bearer token of a request; the scheme in any case, as Kubernetes reads it. `undefined`: none, or none that is UTF-8. */
export function bearerToken({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return subprotocolToken(headers);
  if (authorization.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return utf8(withoutBlanks(authorization.slice(7))) || undefined;
}

/** Without what HTTP takes for blanks. Node gives bytes as characters: more than that may be the end of a letter. */
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
  // Kubernetes takes the first; two are nobody's.
  if (encoded.length !== 1) return undefined;
  return utf8(Buffer.from(encoded[0] as string, "base64url").toString("latin1")) || undefined;
}

/** One of those that no client gets past a server with. */
const HEADER = "X-Remote-Token";
const NAME: string = HEADER.toLowerCase();

/**
 * Tells a server that `CoreOptions.takesCallersTokens` which bearer token the caller has brought, as flat pairs for `headers` of a
 * proxy; nothing of who has brought none. For a server of the same process alone: whoever reads it can do whatever the caller may.
 */
export function callersTokenHeaders(token: string | undefined): readonly string[] {
  return token === undefined ? [] : [HEADER, Buffer.from(token).toString("base64url")];
}

/** The token that {@link callersTokenHeaders} has said. */
export function callersToken({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const [said, another] = headersDistinct[NAME] ?? [];
  if (said === undefined || another !== undefined) return undefined;
  return utf8(Buffer.from(said, "base64url").toString("latin1")) || undefined;
}

/** Those that Kubernetes, kcp and their proxies believe; the rest is the authenticators' to name. */
const ALWAYS = ["authorization", "impersonate-*", "x-remote-*"];
const PROTOCOL = "sec-websocket-protocol";

/** The headers that say who asks: they are for this server, and nobody behind it may take them for its word. */
export class IdentityHeaders {
  readonly #known: KnownNames;

  /** @param more in lower case; `x-*` stands for all that begin with `x-` */
  constructor(more: readonly string[]) {
    const names = new HeaderNames([...ALWAYS, ...more]);
    this.#known = new KnownNames((header) => names.has(header.toLowerCase().replaceAll("_", "-")));
  }

  /** Whether a header says who asks, to us or to a server behind us that takes `_` for `-`. */
  has(header: string): boolean {
    return this.#known.has(header);
  }

  /** Whether a request says who asks, by a header, a browser's subprotocol, a cookie or a client certificate. */
  bringsCredentials(req: IncomingMessage): boolean {
    const { headers, rawHeaders } = req;
    if (headers.cookie !== undefined || headers[PROTOCOL] !== undefined) return true;
    if (rawHeaders.some((name, at) => at % 2 === 0 && this.has(name))) return true;
    return clientCertificate(req) !== undefined;
  }

  /**
   * A proxy in front that follows RFC 9110 drops what `Connection` lists: a client could take groups or scopes from
   * what that proxy has to say.
   *
   * @throws ApiError 400 when one of these is listed
   */
  refuseListed({ headers: { connection } }: IncomingMessage): void {
    if (connection === undefined || connection === "keep-alive" || connection === "close") return;
    const listed = connection.split(",").find((one) => this.has(one.trim()));
    if (listed !== undefined) throw ApiError.badRequest(`the Connection header must not list ${listed.trim()}`);
  }

  /** Takes them off a request, in whichever form a handler reads its headers. */
  drop(req: IncomingMessage): void {
    // Read before the raw list is cut: Node makes these from it on first reading, by its old length.
    const { headers, headersDistinct, rawHeaders } = req;
    for (const form of [headers, headersDistinct])
      for (const name of Object.keys(form)) if (this.has(name)) delete form[name];
    const lines: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
      if (this.has(name)) continue;
      if (name.toLowerCase() !== PROTOCOL) lines.push(name, value);
      else if (withoutToken(value) !== "") lines.push(name, withoutToken(value));
    }
    req.rawHeaders = lines;
    dropTokens(headers, headersDistinct);
  }
}

/** A browser's token is one of the subprotocols that it offers. */
function dropTokens(headers: IncomingMessage["headers"], distinct: IncomingMessage["headersDistinct"]): void {
  const offered = headers[PROTOCOL];
  if (offered === undefined) return;
  const left = withoutToken(offered);
  if (left === "") {
    delete headers[PROTOCOL];
    delete distinct[PROTOCOL];
    return;
  }
  headers[PROTOCOL] = left;
  distinct[PROTOCOL] = (distinct[PROTOCOL] ?? []).map(withoutToken).filter((line) => line !== "");
}

function withoutToken(offered: string): string {
  const protocols = offered.split(",").map((one) => one.trim());
  return protocols.filter((one) => !one.startsWith(SUBPROTOCOL)).join(", ");
}

/** As whom a caller wants to be taken, and what has to be allowed for that, one question for each part that differs. */
export interface Impersonation {
  readonly user: User;
  readonly questions: readonly RequestInfo[];
}

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA = "impersonate-extra-";
/** The most groups, and the most values of extra, that one request may name: each is a question to the rule. */
const MOST = 2500;
const SERVICE_ACCOUNT = "system:serviceaccount:";

/**
 * What the `Impersonate-*` headers ask for, as Kubernetes reads them. `undefined`: nothing, which is what almost every
 * request asks, so that is found out first.
 *
 * @throws ApiError 400 on headers that contradict each other, are empty, no UTF-8 or too many
 */
export function impersonationOf(rawHeaders: readonly string[]): Impersonation | undefined {
  if (!rawHeaders.some(isImpersonation)) return undefined;
  const name = headerText(rawHeaders, USER);
  const uid = headerText(rawHeaders, UID);
  const groups = [...new Set(headerTexts(rawHeaders, GROUP))];
  const extra = extraTexts(rawHeaders, [EXTRA]);
  if (name === undefined) throw ApiError.badRequest(`to impersonate somebody, name them: ${USER} is missing`);
  if ([name, uid, ...groups].includes("")) throw ApiError.badRequest("a header that begins with impersonate- is empty");
  const extraQuestions = Object.entries(extra).flatMap(([subresource, values]) =>
    [...new Set(values)].map((value) => question(AUTHENTICATION, "userextras", { name: value, subresource })),
  );
  refuseMany(GROUP, groups);
  refuseMany(`${EXTRA}*`, extraQuestions);
  const account = serviceAccountOf(name);
  return {
    user: impersonated({ name, uid, groups: groups.length > 0 ? groups : (account?.groups ?? []), extra }),
    questions: [
      account === undefined
        ? question("", "users", { name })
        : question("", "serviceaccounts", { name: account.name, namespace: account.namespace }),
      ...groups.map((group) => question("", "groups", { name: group })),
      ...extraQuestions,
      ...(uid === undefined ? [] : [question(AUTHENTICATION, "uids", { name: uid })]),
    ],
  };
}

const AUTHENTICATION = "authentication.k8s.io";

/** The `Impersonate-*` headers as flat pairs, for a server that reads them itself. @throws ApiError 400 on values that are no UTF-8 */
export function impersonationLines(rawHeaders: readonly string[]): readonly string[] | undefined {
  if (!rawHeaders.some(isImpersonation)) return undefined;
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isImpersonation(name)) lines.push(name, headerLine(name, rawHeaders[at + 1] as string));
  }
  return lines;
}

function refuseMany(header: string, named: readonly unknown[]): void {
  if (named.length > MOST)
    throw ApiError.badRequest(`the header ${header} names ${named.length} different values: at most ${MOST} are taken`);
}

/** Names stand at even places; a value that begins so costs a closer look and no more. */
function isImpersonation(text: string): boolean {
  return (text[0] === "I" || text[0] === "i") && text.slice(0, 12).toLowerCase() === "impersonate-";
}

interface Parts {
  readonly name: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

function impersonated({ name, uid, groups, extra }: Parts): User {
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
  /** Those that every service account of the namespace has. */
  readonly groups: readonly string[];
}

function serviceAccountOf(user: string): ServiceAccount | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT)) return undefined;
  const [namespace = "", name = "", ...rest] = user.slice(SERVICE_ACCOUNT.length).split(":");
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || nameProblems(name).length > 0) return undefined;
  return { namespace, name, groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`] };
}

function question(
  group: string,
  resource: string,
  of: Partial<Pick<RequestInfo, "name" | "namespace" | "subresource">>,
): RequestInfo {
  const { name = "", namespace = "", subresource = "" } = of;
  const about = { group, version: "v1", resource, identity: "", subresource, namespace, name };
  return { isResource: true, verb: "impersonate", path: "", longRunning: false, upgrade: false, ...about };
}
