import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { parseFieldSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { Verb } from "../definition.ts";
import { decodeSegment } from "./path.ts";

/** Attributes of a request (Kubernetes' `RequestInfo`), which every authorization decision is about. */
export interface RequestInfo {
  /** Whether the request is about objects; else only `path` is set, and the verb is the HTTP method in lower case. */
  readonly isResource: boolean;
  /**
   * Kubernetes' verb: `get`, `list`, `watch`, `create`, ...; "" for other methods, `proxy` for Kubernetes' old proxy paths.
   */
  readonly verb: string;
  /** Path below the view, decoded: `/apis/example.dev/v1/quotes`. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /**
   * Identity after the resource and a colon, `/apis/example.dev/v1/widgets:3f2a`: it selects one of several definitions of
   * the same name (kcp's resource identity). "" for most. Rules for the resource apply to all.
   */
  readonly identity: string;
  readonly subresource: string;
  /** Namespace; for a namespace object its own name, as in Kubernetes. */
  readonly namespace: string;
  /** Name; for a list or watch the single name in its field selector. */
  readonly name: string;
  /** Whether the request is open-ended: watches, proxies and terminals. Exempt from the deadline. */
  readonly longRunning: boolean;
  /**
   * Whether the connection switches protocols, whatever the verb: a terminal, a tunnel. `false` for a watch over a WebSocket,
   * which is a read; if a view's own `upgrade` takes it, that is authorized as an upgrade too.
   */
  readonly upgrade: boolean;
}

/** Parts of a request that determine its attributes. */
export interface RequestTarget {
  /** Method in upper case. */
  readonly method: string;
  /** Rest of the path below the view, encoded, with its leading slash. */
  readonly tail: string;
  /** Query parameters. */
  readonly query: URLSearchParams;
}

/** Verbs of HTTP methods on objects; a path may override them (`/watch/…` before it). */
export const METHOD_VERBS: ReadonlyMap<string, Verb> = new Map([
  ["GET", "get"],
  ["HEAD", "get"],
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);
const LONG_SUBRESOURCES: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/**
 * Parses the path below a view's prefix, as Kubernetes does.
 *
 * @throws ApiError 400 on a path that an upstream might interpret differently, or when an identity is missing.
 */
export function requestInfo(request: RequestTarget): RequestInfo {
  const { method, tail } = request;
  const segments = tail.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  const plain = tail.includes("%") ? segments.map((segment) => decodeSegment(segment) ?? segment) : segments;
  const start = plain[0] === "api" ? 2 : 3;
  const isResource = (plain[0] === "api" || plain[0] === "apis") && plain.length > start;
  const { special, namespace, parts } = divide(isResource ? plain.slice(start) : []);
  if (tail.includes("%") || tail.includes("//"))
    refuseAmbiguous(tail, segments.slice(0, segments.length - Math.max(0, parts.length - 3)));
  const path = `/${plain.join("/")}`;
  if (!isResource) return pathInfo(method.toLowerCase(), path);
  const [said = "", name = "", third = ""] = parts;
  const colon = said.indexOf(":");
  const resource = colon === -1 ? said : said.slice(0, colon);
  const subresource = special === "proxy" ? "" : third;
  const verb = special ?? verbOf(request, name);
  return {
    isResource,
    verb,
    path,
    group: start === 2 ? "" : (plain[1] as string),
    version: plain[start - 1] as string,
    resource,
    identity: colon === -1 ? "" : identityOf(said, colon),
    subresource,
    namespace,
    name: special === undefined && name === "" && (verb === "list" || verb === "watch") ? singleName(request) : name,
    longRunning: isLongRunning(verb, subresource),
    upgrade: false,
  };
}

/** @throws ApiError 400 when nothing follows the colon */
function identityOf(said: string, colon: number): string {
  const identity = said.slice(colon + 1);
  if (identity !== "") return identity;
  throw ApiError.badRequest(
    `missing identity after the colon in ${quote(said)}: leave the colon out, or add an identity`,
  );
}

/** Whether a request about objects is open-ended. */
export function isLongRunning(verb: string, subresource: string): boolean {
  return verb === "watch" || verb === "proxy" || (subresource !== "" && LONG_SUBRESOURCES.has(subresource));
}

interface Divided {
  /** Verb in the place of a resource: `/api/v1/watch/pods`. */
  readonly special: "watch" | "proxy" | undefined;
  readonly namespace: string;
  /** Resource, name, subresource, and the rest of the path. */
  readonly parts: readonly string[];
}

/** Divides `namespaces/<namespace>/<resource>/…`; `namespaces/<name>` and its subresources are the namespace itself. */
function divide(rest: readonly string[]): Divided {
  const special = rest.length > 1 && (rest[0] === "watch" || rest[0] === "proxy") ? rest[0] : undefined;
  const from = special === undefined ? 0 : 1;
  const namespace = rest[from] === "namespaces" ? (rest[from + 1] ?? "") : "";
  const third = rest[from + 2];
  const isWithin = namespace !== "" && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third);
  return { special, namespace, parts: rest.slice(isWithin ? from + 2 : from) };
}

function verbOf({ method, query }: RequestTarget, name: string): string {
  const verb = METHOD_VERBS.get(method) ?? "";
  if (name !== "") return verb;
  if (verb === "get") return isWatch(query) ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

/** Parses a boolean as Kubernetes does: present and not false. */
function isWatch(query: URLSearchParams): boolean {
  const text = query.get("watch");
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

/**
 * Takes the name from `fieldSelector=metadata.name=x`, as Kubernetes does, so that a rule for one name allows its list and
 * watch.
 */
function singleName({ query }: RequestTarget): string {
  const selector = query.get("fieldSelector");
  if (selector === null) return "";
  try {
    const name = parseFieldSelector(selector).exactMatch("metadata.name") ?? "";
    return name === "." || name === ".." || /[/%]/.test(name) ? "" : name;
  } catch {
    return ""; // rejected with 400 where the selector is parsed
  }
}

/**
 * Rejects a forwarded tail that is ambiguous, since it keeps its bytes. Security: an upstream Kubernetes server decodes all
 * of it at once, encoded slashes too, and skips leading slashes.
 *
 * @param segments segments that determine the request's attributes
 */
function refuseAmbiguous(tail: string, segments: readonly string[]): void {
  const root = decodeAll(tail)
    .split("/")
    .find((segment) => segment !== "");
  if (root !== "api" && root !== "apis") return;
  if (segments.some((segment) => decodeSegment(segment) === undefined))
    throw ApiError.badRequest("invalid path of an object: remove empty segments, encoded slashes and double encodings");
}

/** Percent-decodes any text; bytes that are not UTF-8 become single characters. */
function decodeAll(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Returns the attributes of a non-resource request, such as `/version` or `/apis`. */
export function pathInfo(verb: string, path: string): RequestInfo {
  return {
    isResource: false,
    verb,
    path,
    group: "",
    version: "",
    resource: "",
    identity: "",
    subresource: "",
    namespace: "",
    name: "",
    longRunning: false,
    upgrade: false,
  };
}

/** Header that counts the API servers which have forwarded a request (kcp's `hops.HeaderName`). */
export const HOPS_HEADER = "X-Kcp-Virtual-Resource-Hops";
/** Number of hops at which a request is rejected (kcp's `hops.Max`). */
export const MOST_HOPS = 4;

const NAME: string = HOPS_HEADER.toLowerCase();

/**
 * Returns the number of hops that a request states. An invalid or repeated value counts as too many: a loop that corrupts the
 * header must end as well.
 */
export function hopsOf(headers: NodeJS.Dict<string | string[]>): number {
  const text = headers[NAME];
  if (text === undefined) return 0;
  if (typeof text !== "string" || !/^\d+$/.test(text)) return MOST_HOPS;
  return Math.min(Number(text), MOST_HOPS);
}

/** Longest chain in a forwarded request, characters: the end of the chain, which shows a loop. */
const LONGEST_CHAIN = 1024;

/**
 * Appends a server to a `Via` header (RFC 9110): `1.1 quotes, 1.1 archive`.
 *
 * @param came the header of the request
 */
export function viaOf(came: string | undefined, name: string): string {
  const own = `1.1 ${name}`;
  if (came === undefined || came === "") return own;
  const chain = `${came}, ${own}`;
  if (chain.length <= LONGEST_CHAIN) return chain;
  const rest = chain.slice(-LONGEST_CHAIN);
  return rest.slice(rest.indexOf(", ") + 2);
}

/** Returns the error of a (near) loop. Its message shows the sender its own `Via` text. */
export function tooManyHops(via: string): ApiError {
  const names = via.split(",").map((entry) => entry.trim().split(/\s+/)[1] ?? "?");
  const chain = names.map((name) => name.replace(/[^\x21-\x7e]/g, "?")).join(" -> ");
  return ApiError.internalError(
    `the request was forwarded by ${MOST_HOPS} API servers or more (${HOPS_HEADER}): ${chain}. ` +
      "One of them very likely leads back to another: check the URL that each forwards to",
  );
}
