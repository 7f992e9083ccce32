import { isWorkspacePath, joinWorkspacePath, parentPath, splitWorkspacePath } from "@virtual-workspaces/apimachinery";
import { Failure, UsageError } from "../../process/failure.ts";

/** Where a URL leads: the server, and a workspace there. */
export interface WorkspaceUrl {
  /** Without a slash at its end, and without `/clusters/…`. */
  readonly base: string;
  /** A workspace path, or the name of a logical cluster. */
  readonly path: string;
  /** The ClusterProxy in that workspace whose cluster is asked in its place. @default the workspace itself is */
  readonly proxy?: string;
}

/** What somebody wants to go to, as kcp's `kubectl ws` reads it. */
export type Destination =
  | { readonly to: "current" | "previous" | "top" }
  /** One's home workspace, or below it. */
  | { readonly to: "home"; readonly below: string }
  /** By its name below the current one, with `.` and `..`. */
  | { readonly to: "relative" | "absolute"; readonly path: string }
  /** That cluster and no other, by its URL. */
  | { readonly to: "proxy"; readonly path: string; readonly proxy: string };

const CLUSTERS = "/clusters/";
/** Where the view of ClusterProxies serves one. */
const PROXY = /^(.*)\/services\/clusterproxy\/([^/]+)\/([^/]+)\/?$/;

/** The place that a URL names, `undefined` if it names none (kcp's `ParseClusterURL`: the first `/clusters/` counts). */
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
 * What a word means: `.`, `-`, `:`, `~`, `~:x`, a name, `a:b`, `a/b`, `..`, `:root:a`, or a URL of this server.
 *
 * @param home the user's folder: a shell puts it in the place of `~`
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

/** A path from where one is, without `.` and `..`. @throws Failure above the top, and on what is no path */
export function resolvePath(path: string, from: string, asGiven: string): string {
  let at = from;
  for (const part of path.split(":")) {
    if (part === ".") continue;
    if (part !== "..") at = joinWorkspacePath(at, part === "" ? "?" : part);
    else if (at === "") throw new Failure("cannot go up from root");
    else at = parentPath(at) ?? "";
  }
  if (!isWorkspacePath(at)) throw new Failure(`invalid workspace path: ${asGiven}`);
  return at;
}

/** The first name on the way: `root`, or whatever it is. */
export function topOf(path: string): string {
  return splitWorkspacePath(path)[0] ?? path;
}

function destinationAtUrl(url: string, base: string): Destination {
  const place = parseWorkspaceUrl(url);
  if (place === undefined) throw new UsageError(`the URL ${JSON.stringify(url)} does not point to a workspace`);
  if (place.base !== base)
    throw new Failure(
      `${url} is of another server than ${base}: take a kubeconfig of that server, with --kubeconfig or --context`,
    );
  const { path, proxy } = place;
  return proxy === undefined ? { to: "absolute", path } : { to: "proxy", path, proxy };
}
