import type { RequestInfo } from "../../request/request-info.ts";
import type { ServedResource } from "../../resource/served.ts";
import type { ObservedRequest } from "../observer.ts";

/**
 * Labels of a request. Their values come from the server only: a virtual workspace, a served resource. Security: text that
 * clients choose becomes "other" or nothing, because new series could exhaust the memory.
 */
export const REQUEST_LABELS = [
  "virtual_workspace",
  "verb",
  "group",
  "version",
  "resource",
  "subresource",
  "scope",
] as const;

export type RequestLabels = readonly [string, string, string, string, string, string, string];

const OTHER = "other";

/** Kubernetes' verbs in metrics: those of HTTP, and what they map to. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ["get", "GET"],
  ["list", "LIST"],
  ["watch", "WATCH"],
  ["create", "POST"],
  ["update", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
  ["deletecollection", "DELETECOLLECTION"],
  ["proxy", "PROXY"],
  ["post", "POST"],
  ["put", "PUT"],
  ["head", "GET"],
  ["options", "OPTIONS"],
]);

/** Paths outside of views. */
const OWN_PATHS: ReadonlySet<string> = new Set(["/livez", "/readyz", "/metrics", "/statusz", "/flagz"]);

export function labelsOf(request: ObservedRequest): RequestLabels {
  const info = request.info;
  const mounted = request.mounted;
  const own = OWN_PATHS.has(request.path) ? request.path : "";
  // The views at /metrics, /statusz and /flagz are no virtual workspaces.
  const view = own === "" ? (mounted?.name ?? "") : "";
  const verb = verbOf(request, info);
  if (info?.isResource !== true) return [view, verb, "", "", "", own, ""];
  const served = servedOf(request);
  if (served === undefined) return [view, verb, OTHER, OTHER, OTHER, OTHER, scopeOf(info)];
  const { group, version, plural } = served.definition;
  return [view, verb, group, version, plural, subresourceOf(info, served), scopeOf(info)];
}

function verbOf({ req, method, search, served }: ObservedRequest, info: RequestInfo | undefined): string {
  if (info === undefined) return VERBS.get(method.toLowerCase()) ?? OTHER;
  const { verb, subresource } = info;
  if (verb === "watch" && /[?&]sendInitialEvents=true/.test(search)) return "WATCHLIST";
  if (verb === "patch" && req.headers["content-type"]?.startsWith("application/apply-patch") === true) return "APPLY";
  if (subresource !== "" && served?.named.get(subresource)?.form === "connect") return "CONNECT";
  return VERBS.get(verb) ?? OTHER;
}

/** The resource of a rejected request is known where the view serves all callers the same. */
function servedOf({ served, mounted, info }: ObservedRequest): ServedResource | undefined {
  if (served !== undefined) return served;
  const resources = mounted?.workspace.resources;
  return info !== undefined && Array.isArray(resources) ? mounted?.indexes.of(resources).find(info) : undefined;
}

function subresourceOf({ subresource }: RequestInfo, served: ServedResource): string {
  if (subresource === "" || served.subresources.some(({ name }) => name === subresource)) return subresource;
  return OTHER;
}

/** Kubernetes' scope of a request. */
function scopeOf({ name, namespace, verb }: RequestInfo): string {
  if (name !== "" || verb === "create") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}
