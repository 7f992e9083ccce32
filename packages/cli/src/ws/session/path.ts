import { isWorkspacePath, joinWorkspacePath, parentPath, splitWorkspacePath } from "@virtual-workspaces/apimachinery";
import { Failure, UsageError } from "../../process/failure.ts";

/** Parts of a URL: the server, and the workspace. */
export interface WorkspaceUrl {
  /** URL without a trailing slash and `/clusters/…`. */
  readonly base: string;
  /** Workspace path, or name of a logical cluster. */
  readonly path: string;
  /** ClusterProxy in the workspace, if the URL is that of its cluster. @default the URL is that of the workspace */
  readonly proxy?: string;
}

/** Destination of `kubectl ws`, in kcp's syntax. */
export type Destination =
  | { readonly to: "current" | "previous" | "top" }
  /** The home workspace, or a path below it. */
  | { readonly to: "home"; readonly below: string }
  /** A path below the current workspace, with `.` and `..`, or an absolute one. */
  | { readonly to: "relative" | "absolute"; readonly path: string }
  /** The cluster of a ClusterProxy, given by its URL. */
  | { readonly to: "proxy"; readonly path: string; readonly proxy: string };

const CLUSTERS = "/clusters/";
/** Path at which the view serves a ClusterProxy. */
const PROXY = /^(.*)\/services\/clusterproxy\/([^/]+)\/([^/]+)\/?$/;

/** Parses the URL of a workspace; `undefined` for other URLs. As in kcp's `ParseClusterURL`, the first `/clusters/` counts. */
export function parseWorkspaceUrl(url: string): WorkspaceUrl | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  const at = pathname.indexOf(CLUSTERS);
  if (at < 0) return throughProxy(origin, pathname);
  const [segment = ""] = pathname.slice(at + CLUSTERS.length).split("/");
  const path = unescaped(segment);
  return isWorkspacePath(path) ? { base: origin + pathname.slice(0, at), path } : undefined;
}

export function formatWorkspaceUrl({ base, path, proxy }: WorkspaceUrl): string {
  return proxy === undefined ? `${base}${CLUSTERS}${path}` : `${base}/services/clusterproxy/${path}/${proxy}`;
}

function throughProxy(origin: string, pathname: string): WorkspaceUrl | undefined {
  const [, before = "", segment = "", proxy = ""] = PROXY.exec(pathname) ?? [];
  const path = unescaped(segment);
  return isWorkspacePath(path) ? { base: origin + before, path, proxy } : undefined;
}

const unescaped = (segment: string): string => segment.replaceAll(/%3a/gi, ":");

/**
 * Parses a destination: `.`, `-`, `:`, `~`, `~:x`, a name, `a:b`, `a/b`, `..`, `:root:a`, or a URL of this server.
 *
 * @param home home directory, which a shell substitutes for `~`
 * @throws Failure on a URL of another server
 */
export function parseDestination(
  word: string,
  { base, home }: { readonly base: string; readonly home: string },
): Destination {
  if (word.includes("://")) return destinationAtUrl(word, base);
  const own = home.length > 1 && (word === home || word.startsWith(`${home}/`));
  const text = (own ? `~${word.slice(home.length)}` : word).replaceAll("/", ":");
  if (text === "." || text === "") return { to: "current" };
  if (text === "-") return { to: "previous" };
  if (text === ":") return { to: "top" };
  if (text === "~" || text.startsWith("~:")) return { to: "home", below: text.slice(2) };
  return text.startsWith(":") ? { to: "absolute", path: text.slice(1) } : { to: "relative", path: text };
}

/** Resolves `.` and `..` in a path. @throws Failure above the topmost workspace, and on an invalid path */
export function resolvePath(path: string, from: string, asGiven: string): string {
  const aboveTop = (): Failure => new Failure(`cannot go up from ${topOf(from) || "root"}`);
  let at = from;
  for (const part of path.split(":")) {
    if (part === ".") continue;
    if (part !== "..") at = joinWorkspacePath(at, part === "" ? "?" : part);
    else if (at === "") throw aboveTop();
    else at = parentPath(at) ?? "";
  }
  if (at === "" && from !== "") throw aboveTop();
  if (!isWorkspacePath(at)) throw new Failure(`invalid workspace path: ${asGiven}`);
  return at;
}

/** Returns the first name of a path, usually `root`. */
export function topOf(path: string): string {
  return splitWorkspacePath(path)[0] ?? path;
}

function destinationAtUrl(url: string, base: string): Destination {
  const place = parseWorkspaceUrl(url);
  if (place === undefined) throw new UsageError(`the URL ${JSON.stringify(url)} does not point to a workspace`);
  if (place.base !== base)
    throw new Failure(
      `${url} is not a URL of ${base}: use a kubeconfig of that server, with --kubeconfig or --context`,
    );
  const { path, proxy } = place;
  return proxy === undefined ? { to: "absolute", path } : { to: "proxy", path, proxy };
}
