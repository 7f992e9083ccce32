import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { parseFieldSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { Verb } from "../definition.ts";
import { decodeSegment } from "./path.ts";

/** What a request is about (Kubernetes' `RequestInfo`), the subject of every authorization question. */
export interface RequestInfo {
  /** Whether it is about objects; else `path` is all there is, and the verb is the HTTP method in lower case. */
  readonly isResource: boolean;
  /** `get`, `list`, `watch`, `create`, ...; "" for a method that is none of these, `proxy` for Kubernetes' old proxy paths. */
  readonly verb: string;
  /** The path below the view, decoded: `/apis/example.dev/v1/quotes`. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /**
   * What follows the resource and a colon in the path, `/apis/example.dev/v1/widgets:3f2a`: by whose definition it is meant,
   * where several are served under one name (kcp's resource identity). "" for most. Rules for the resource hold for all.
   */
  readonly identity: string;
  readonly subresource: string;
  /** Of an object that is itself a namespace its own name, as in Kubernetes. */
  readonly namespace: string;
  /** Of a list or watch the one name that its field selector leaves. */
  readonly name: string;
  /** Open-ended: watches, and what proxies and terminals do. Exempt from the deadline. */
  readonly longRunning: boolean;
  /** Whether the connection is to be another protocol's, whatever the verb is: a terminal, a tunnel. */
  readonly upgrade: boolean;
}

/** What a request asks for. */
export interface RequestTarget {
  /** In upper case. */
  readonly method: string;
  /** The rest of the path below the view, encoded, with its leading slash. */
  readonly tail: string;
  /** What the query says. */
  readonly query: URLSearchParams;
}

/** What the methods of HTTP do to an object; a path may say otherwise (`/watch/…` before it). */
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
 * Reads the part of a path below a view's prefix, as Kubernetes does.
 *
 * @throws ApiError 400 when a server behind us might take it for something else, or an identity is missing.
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
  throw ApiError.badRequest(`${quote(said)} ends where an identity should follow: leave the colon out, or name one`);
}

/** Whether what is asked about objects is open-ended. */
export function isLongRunning(verb: string, subresource: string): boolean {
  return verb === "watch" || verb === "proxy" || (subresource !== "" && LONG_SUBRESOURCES.has(subresource));
}

interface Divided {
  /** A verb in the place of a resource: `/api/v1/watch/pods`. */
  readonly special: "watch" | "proxy" | undefined;
  readonly namespace: string;
  /** Resource, name, subresource, and what the subresource makes of the rest. */
  readonly parts: readonly string[];
}

/** `namespaces/<namespace>/<resource>/…`, where `namespaces/<name>` and its subresources are the namespace itself. */
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

/** As Kubernetes reads booleans in queries: present and not false. */
function isWatch(query: URLSearchParams): boolean {
  const text = query.get("watch");
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

/** Kubernetes takes the name out of `fieldSelector=metadata.name=x`, so that a rule on one name allows its list and watch. */
function singleName({ query }: RequestTarget): string {
  const selector = query.get("fieldSelector");
  if (selector === null) return "";
  try {
    const name = parseFieldSelector(selector).exactMatch("metadata.name") ?? "";
    return name === "." || name === ".." || /[/%]/.test(name) ? "" : name;
  } catch {
    return ""; // refused with 400 where it is read
  }
}

/**
 * A tail that is handed on keeps its bytes, but what it is about must be beyond doubt: a Kubernetes server behind us
 * decodes all of it at once, encoded slashes too, and skips the slashes that it begins with.
 *
 * @param segments those that say what the request is about
 */
function refuseAmbiguous(tail: string, segments: readonly string[]): void {
  const root = decodeAll(tail)
    .split("/")
    .find((segment) => segment !== "");
  if (root !== "api" && root !== "apis") return;
  if (segments.some((segment) => decodeSegment(segment) === undefined))
    throw ApiError.badRequest(
      "where the path names an object it must not contain empty segments, encoded slashes or double encodings",
    );
}

/** Percent-decoded, whatever comes out; bytes that are no UTF-8 as characters of their own. */
function decodeAll(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** What a request asks that is about a path and nothing else, as authorizers are told of `/version` or `/apis`. */
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

/** The header that counts the API servers which have passed a request on (kcp's `hops.HeaderName`). */
export const HOPS_HEADER = "X-Kcp-Virtual-Resource-Hops";
/** A request that so many API servers have passed on is not answered any more (kcp's `hops.Max`). */
export const MOST_HOPS = 4;

const NAME: string = HOPS_HEADER.toLowerCase();

/**
 * Through how many API servers a request says that it has come. What is no number, or comes twice, counts as too many: a
 * loop that spoils the header must end as well.
 */
export function hopsOf(headers: NodeJS.Dict<string | string[]>): number {
  const text = headers[NAME];
  if (text === undefined) return 0;
  if (typeof text !== "string" || !/^\d+$/.test(text)) return MOST_HOPS;
  return Math.min(Number(text), MOST_HOPS);
}

/** How much of a chain is told on, characters: the last of it, which is where a loop shows. */
const LONGEST_CHAIN = 1024;

/**
 * The chain with one server more at its end, as a `Via` header says it (RFC 9110): `1.1 quotes, 1.1 archive`.
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

/** A request has gone in a circle, or nearly. The message goes to whoever sent it, and holds what they said. */
export function tooManyHops(via: string): ApiError {
  const names = via.split(",").map((entry) => entry.trim().split(/\s+/)[1] ?? "?");
  const chain = names.map((name) => name.replace(/[^\x21-\x7e]/g, "?")).join(" -> ");
  return ApiError.internalError(
    `the request was passed on by ${MOST_HOPS} API servers or more (${HOPS_HEADER}): ${chain}. ` +
      "One of them very likely leads back to another: check the URL that each forwards to",
  );
}
