import { type KindReference, nearest, parentPath } from "@virtual-workspaces/apimachinery";
import type { ExaminedServer } from "./examined-server.ts";

// Security: every name comes from an answer to the user's own request, so that nothing shows what the user may not list.

/** Kinds of objects that doctor examines by name. */
const KINDS = {
  apiexports: kindOf("apis.kcp.io/v1alpha2", "APIExport", "apiexports"),
  clusterproxies: kindOf("proxy.kcp.io/v1alpha1", "ClusterProxy", "clusterproxies"),
  workspaces: kindOf("tenancy.kcp.io/v1alpha1", "Workspace", "workspaces"),
} as const;

/** Checks of this project's servers, which are no views. */
const NO_VIEWS: ReadonlySet<string> = new Set(["shutdown"]);
/**
 * Checks of servers that do not list the views below /services: Kubernetes' servers, such as kcp's shard and front proxy, and
 * ours where other processes serve them.
 */
const NO_LIST = /^(?:ping|log|informer-sync|services|virtual-workspaces)$|\//;
/** Maximum number of names in a message. */
const MOST_NAMES = 12;

/** Returns `did you mean "x"? ` for a missing object, or "". @param path workspace with the objects, as a path of the server */
export async function meantObject(
  patient: ExaminedServer,
  name: string,
  { of, path = patient.path }: { readonly of: keyof typeof KINDS; readonly path?: string },
): Promise<string> {
  const meant = nearest(name, await namesOf(patient, of, path));
  return meant === undefined ? "" : `did you mean ${JSON.stringify(meant)}? `;
}

async function namesOf(patient: ExaminedServer, of: keyof typeof KINDS, path: string): Promise<readonly string[]> {
  try {
    const { items } = await patient.client(path).resource(KINDS[of]).list(patient.patience);
    return items.map(({ metadata }) => metadata.name ?? "");
  } catch {
    return []; // the user may not list them, or the server has no such kind
  }
}

/** Name in a URL that does not exist. */
export interface Misnamed {
  /** Part of the path that names nothing: `virtual workspace "quote"`. */
  readonly part: string;
  /** Suggestion as a sentence, or "". */
  readonly meant: string;
}

/** Finds the first name in the path of the URL that names nothing the user can see. `undefined` if there is none. */
export async function misnamed(patient: ExaminedServer): Promise<Misnamed | undefined> {
  const segments = patient.path.split("/").slice(1).map(decoded);
  const [first = "", view = "", cluster = "", name = ""] = segments;
  if (first === "clusters") return workspaceIn(patient, view);
  if (first !== "services") return firstSegment(patient, first);
  const views = await viewsOf(patient);
  if (views.length > 0 && !views.includes(view)) {
    const near = nearest(view, views);
    const shown = `${views.slice(0, MOST_NAMES).join(", ")}${views.length > MOST_NAMES ? ", …" : ""}`;
    const meant = near === undefined ? `/readyz lists: ${shown}. ` : `did you mean /services/${near}? `;
    return { part: `virtual workspace ${JSON.stringify(view)}`, meant };
  }
  if (view !== "apiexport" || name === "") return undefined;
  const path = `/clusters/${cluster}`;
  const exports = await namesOf(patient, "apiexports", path);
  if (exports.length === 0 || exports.includes(name)) return undefined;
  const meant = await meantObject(patient, name, { of: "apiexports", path });
  return { part: `APIExport ${JSON.stringify(name)} in ${cluster}`, meant };
}

async function workspaceIn(patient: ExaminedServer, path: string): Promise<Misnamed | undefined> {
  const parent = parentPath(path);
  if (parent === undefined) return undefined;
  const names = await namesOf(patient, "workspaces", `/clusters/${parent}`);
  const name = path.slice(parent.length + 1);
  if (names.length === 0 || names.includes(name)) return undefined;
  const near = nearest(name, names);
  const meant = near === undefined ? "" : `did you mean ${JSON.stringify(`${parent}:${near}`)}? `;
  return { part: `workspace ${JSON.stringify(path)}`, meant };
}

function firstSegment(patient: ExaminedServer, first: string): Misnamed | undefined {
  const near = nearest(first, ["services", "clusters"]);
  if (near === undefined) return undefined;
  return { part: `path ${JSON.stringify(patient.path)}`, meant: `did you mean /${near}/…? ` };
}

/** Returns the name of the view in the URL. */
export function viewOf({ path }: ExaminedServer): string | undefined {
  const [, view] = /^\/services\/([^/]+)/.exec(path) ?? [];
  return view === undefined ? undefined : decoded(view);
}

/** Returns the names of the views that `/readyz` lists, to anyone; none if the server does not list them. */
async function viewsOf(patient: ExaminedServer): Promise<readonly string[]> {
  const names = (await patient.readiness()).checks.map(({ name }) => name);
  return names.some((name) => NO_LIST.test(name)) ? [] : names.filter((name) => !NO_VIEWS.has(name));
}

function kindOf(apiVersion: string, kind: string, plural: string): KindReference<object> {
  const [group = "", version = ""] = apiVersion.split("/");
  return { group, version, kind, plural, scope: "Cluster" };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
