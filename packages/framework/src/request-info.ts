import { ApiError } from "@virtual-workspaces/apimachinery";
import { decodeSegment } from "./path.ts";

/** What a request is about (Kubernetes' `RequestInfo`), the subject of every authorization question. */
export interface RequestInfo {
  /** Whether it is about objects; else `path` is all there is, and the verb is the HTTP method in lower case. */
  readonly isResource: boolean;
  readonly verb: string;
  /** The path below the view, decoded: `/apis/example.dev/v1/quotes`. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Open-ended: watches, and what proxies and terminals do. Exempt from the deadline. */
  readonly longRunning: boolean;
}

const OBJECT_VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/**
 * Reads the part of a path below a view's prefix.
 *
 * @throws ApiError 404 on a path that is neither discovery nor objects.
 */
export function requestInfo(request: {
  readonly method: string;
  readonly tail: string;
  readonly query: URLSearchParams;
}): RequestInfo {
  const segments = request.tail.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  const decoded = segments.map((segment) => decodeSegment(segment) ?? segment);
  const path = `/${decoded.join("/")}`;
  const core = decoded[0] === "api";
  if (!core && decoded[0] !== "apis") return nonResource(request.method, path);
  const rest = decoded.slice(core ? 2 : 3);
  if (rest.length === 0) return nonResource(request.method, path);
  const group = core ? "" : (decoded[1] ?? "");
  const version = decoded[core ? 1 : 2] ?? "";
  const namespaced = rest[0] === "namespaces" && rest.length > 2;
  const [resource = "", name = "", subresource = "", ...extra] = namespaced ? rest.slice(2) : rest;
  if (extra.length > 0) throw ApiError.notFoundPath();
  const verb = verbOf(request, name);
  return {
    isResource: true,
    verb,
    path,
    group,
    version,
    resource,
    subresource,
    namespace: namespaced ? (rest[1] ?? "") : "",
    name: name !== "" || verb === "create" ? name : singleName(request.query),
    longRunning: verb === "watch",
  };
}

function verbOf(request: { readonly method: string; readonly query: URLSearchParams }, name: string): string {
  const verb = OBJECT_VERBS[request.method] ?? request.method.toLowerCase();
  if (name !== "") return verb === "get" && isWatch(request.query) ? "watch" : verb;
  if (verb === "get") return isWatch(request.query) ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

/** As Kubernetes reads booleans in queries: present and not false. */
function isWatch(query: URLSearchParams): boolean {
  const text = query.get("watch");
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

/** Kubernetes takes the name out of `fieldSelector=metadata.name=x`, so that a rule on one name allows its list and watch. */
function singleName(query: URLSearchParams): string {
  const match = /(?:^|,)metadata\.name==?([^,=!]+)(?:,|$)/.exec(query.get("fieldSelector") ?? "");
  return match?.[1] ?? "";
}

/** A request that is about a path and nothing else. */
export function nonResource(method: string, path: string): RequestInfo {
  return {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    group: "",
    version: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    longRunning: false,
  };
}
