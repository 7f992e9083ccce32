/** URL below which the server has its API: the page is at `<prefix>/console/`. */
const base = new URL("..", document.baseURI);

/** Query parameters of a request. Undefined and empty ones are left out. */
export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** URL of a path of the API, relative to the prefix of the server, such as `clusters/root/api/v1/namespaces`. */
export function apiUrl(path: string, parameters: Parameters = {}): URL {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== "" && value !== false) url.searchParams.set(name, String(value));
  return url;
}

/** The same for a WebSocket. */
export function socketUrl(path: string, parameters: Parameters = {}): URL {
  const url = apiUrl(path, parameters);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}

/** Path of a workspace, by its workspace path (`root:acme`) or the name of its logical cluster. */
export function workspacePath(workspace: string): string {
  return `clusters/${segment(workspace)}`;
}

/** Path of the LogicalCluster of a workspace, whose name is `cluster`. */
export function logicalClustersPath(workspace: string): string {
  return `${workspacePath(workspace)}/apis/core.kcp.io/v1alpha1/logicalclusters`;
}

/** Path of the query view over one workspace, or over all of them (`*`). */
export function queryPath(workspace: string): string {
  return `services/query/${workspacePath(workspace)}`;
}

export interface ResourceId {
  /** "" is the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural name, as in URLs. */
  readonly resource: string;
}

/** Path of a collection or, with a name, of an object, below the path of a workspace. */
export function resourcePath(id: ResourceId, { namespace = "", name = "" } = {}): string {
  const parts = id.group === "" ? ["api", id.version] : ["apis", id.group, id.version];
  if (namespace !== "") parts.push("namespaces", namespace);
  parts.push(id.resource);
  if (name !== "") parts.push(name);
  return parts.map(segment).join("/");
}

/**
 * Segment of a path.
 *
 * Security: `.` and `..` come from addresses that anyone can write, and would lead to another path. No name is `-`: it is 404.
 */
function segment(text: string): string {
  return text === "." || text === ".." ? "-" : encodeURIComponent(text).replaceAll("%3A", ":");
}
