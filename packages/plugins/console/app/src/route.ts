import { signal } from "@preact/signals";
import type { ResourceId } from "./api/base.ts";

/**
 * Where the page is, all of it in the hash of the address, so that every state has a link:
 * `#/workspaces/<path>[/<group>/<version>/<resource>[/object/<namespace>/<name>]]?<query>`. The core group is `core`, and the namespace of
 * a cluster-scoped object is `-`.
 */
export interface Route {
  /** Workspace path (`root:acme`), or the name of a logical cluster. */
  readonly workspace: string;
  readonly resource?: ResourceId;
  readonly object?: { readonly namespace: string; readonly name: string };
  readonly query: RouteQuery;
}

/** Names of the parameters. Each is absent in its default. */
export interface RouteQuery {
  /** Open nodes of the tree, separated by commas. */
  readonly open?: string;
  /** Search in the tree. */
  readonly find?: string;
  /** Search in the list of resources. */
  readonly kinds?: string;
  /** Column, with `-` before it in reverse. */
  readonly sort?: string;
  readonly search?: string;
  readonly labels?: string;
  readonly filter?: string;
  readonly namespace?: string;
  readonly offset?: string;
  /** `1`: the objects of all workspaces. */
  readonly all?: string;
  /** Column whose values are counted. */
  readonly count?: string;
  /** `1`: the columns of kubectl's `-o wide`, too. */
  readonly wide?: string;
  /** Part of the object page, or page of the workspace: `access`. */
  readonly view?: string;
  /** Virtual workspace of the page about one. */
  readonly of?: string;
  /** Question of the page about access. */
  readonly ask?: string;
}

/** Parameters that belong to the tree: links to elsewhere keep them. */
const OF_TREE = ["open", "find"] as const;

const decode = (text: string | undefined): string => {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
};

const encode = (text: string): string => encodeURIComponent(text).replaceAll("%3A", ":");

function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const query: RouteQuery = Object.fromEntries(new URLSearchParams(search));
  const [, , workspace, group, version, resource, , namespace, name] = path.split("/").map(decode);
  const route: Route = { workspace: workspace || "root", query };
  if (!group || !version || !resource) return route;
  const found = { ...route, resource: { group: group === "core" ? "" : group, version, resource } };
  return name && namespace ? { ...found, object: { namespace: namespace === "-" ? "" : namespace, name } } : found;
}

export function routeHash({ workspace, resource, object, query }: Route): string {
  const parts = ["workspaces", workspace];
  if (resource !== undefined) parts.push(resource.group || "core", resource.version, resource.resource);
  if (resource !== undefined && object !== undefined) parts.push("object", object.namespace || "-", object.name);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
  return `#/${parts.map(encode).join("/")}${text === "" ? "" : `?${text}`}`;
}

/** The current route. Change it with `navigate`. */
export const route = signal<Route>(parseRoute(location.hash));

addEventListener("hashchange", () => {
  // Others are those of one-time links: the page stays where it is.
  if (/^(#\/|$)/.test(location.hash)) route.value = parseRoute(location.hash);
});

/** Goes to a route. `replace` leaves no entry in the history: for texts while they are typed. */
export function navigate(next: Route, { replace = false } = {}): void {
  const hash = routeHash(next);
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  route.value = parseRoute(hash);
}

/** Changes parameters of the current route; undefined removes one. */
export function setQuery(
  change: { readonly [K in keyof RouteQuery]: RouteQuery[K] | undefined },
  replace = true,
): void {
  navigate(withQuery(route.peek(), change), { replace });
}

export function withQuery(from: Route, change: { readonly [K in keyof RouteQuery]: RouteQuery[K] | undefined }): Route {
  const query = Object.fromEntries(Object.entries({ ...from.query, ...change }).filter(([, value]) => value));
  return { ...from, query };
}

/** Route to elsewhere, which keeps the state of the tree. */
export function routeTo(target: Omit<Route, "query">, query: RouteQuery = {}): Route {
  const kept: Record<string, string> = {};
  for (const name of OF_TREE) {
    const value = route.value.query[name];
    if (value !== undefined) kept[name] = value;
  }
  return { ...target, query: { ...kept, ...query } };
}

/** Address of the page about access in the current workspace. */
export function accessHash(): string {
  return routeHash(routeTo({ workspace: route.value.workspace }, { view: "access" }));
}
