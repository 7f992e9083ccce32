import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";

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
export function headerLine(name: string, line: string): string {
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
export const SUBPROTOCOL = "base64url.bearer.authorization.k8s.io.";

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
 * Tells a server that {@link CoreOptions.takesCallersTokens} which bearer token the caller has brought, as flat pairs for `headers` of a
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
