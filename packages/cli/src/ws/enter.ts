import { baseName, isApiError, nearest, parentPath } from "@virtual-workspaces/apimachinery";
import type { WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { Failure } from "../process/failure.ts";
import { WS_COMMANDS } from "./flags.ts";
import { CLUSTER_PROXIES, WORKSPACES, type Workspace } from "./session/kinds.ts";
import { parseWorkspaceUrl } from "./session/path.ts";
import { ask, known, refusal } from "./session/requests.ts";
import type { Session } from "./session/session.ts";

/** A workspace that the user can access. */
export interface Entered {
  /** Path; differs from the requested one if a mount redirects. */
  readonly path: string;
  /** Type of the workspace, if it has one that the user may read. */
  readonly type?: WorkspaceTypeReference;
}

/** Maximum number of redirects. */
const MOST_REDIRECTS = 4;

/**
 * Checks that the user can access a workspace, as kcp's `kubectl ws` does: by its discovery, and by the Workspace in its
 * parent, which the user may be unable to read. Follows redirects to other workspaces of this server.
 *
 * @param word argument of the user, for suggestions
 * @throws Failure when the workspace does not exist, or denies access
 */
export async function enter(session: Session, wanted: string, word?: string): Promise<Entered> {
  let path = wanted;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const found = await discovered(session, path);
    if (found.is === "redirect") {
      path = redirectedTo(session, path, found.location);
      continue;
    }
    const workspace = await workspaceAt(session, path);
    if (found.is === "served")
      return { path, ...(workspace !== "missing" && workspace?.spec.type && { type: workspace.spec.type }) };
    if (workspace === "missing")
      throw new Failure(`workspace ${JSON.stringify(path)} not found${await suggestion(session, path, word)}`);
    const named = `workspace ${JSON.stringify(path)}`;
    throw new Failure(found.is === "nothing" ? `${named}: ${found.why}` : `access to ${named} denied: ${found.why}`);
  }
  throw new Failure(`workspace ${JSON.stringify(wanted)} redirects more than ${MOST_REDIRECTS} times`);
}

/** Words by which users ask for a list, which `kubectl ws` takes for the name of a workspace. */
const LISTS: ReadonlySet<string> = new Set(["ls", "list", "l", "ll", "dir"]);

/**
 * Returns the end of a message about a missing workspace: what the user may have meant. Security: suggests only workspaces
 * that the user may list.
 *
 * @param path the missing workspace
 * @param word argument of the command; it may be a misspelled command
 */
async function suggestion(session: Session, path: string, word = ""): Promise<string> {
  if (LISTS.has(word)) return ': "kubectl ws tree" and "kubectl get workspaces" list workspaces';
  const parent = parentPath(path);
  const siblings =
    parent === undefined ? undefined : await known(session.client(parent).resource(WORKSPACES).list(session.patience));
  const sibling = nearest(baseName(path), siblings?.items.map(({ metadata }) => metadata.name ?? "") ?? []);
  if (sibling !== undefined) return `: did you mean ${JSON.stringify(`${parent}:${sibling}`)}?`;
  const command = nearest(word, [...WS_COMMANDS.keys()]);
  return command === undefined ? "" : `: did you mean "kubectl ws ${command}"?`;
}

/** Formats a type as kcp does: `root:organization`. */
export function typeText({ path = "", name }: WorkspaceTypeReference): string {
  return path === "" ? name : `${path}:${name}`;
}

type Discovered =
  | { readonly is: "served" }
  | { readonly is: "denied" | "nothing"; readonly why: string }
  | { readonly is: "redirect"; readonly location: string };

/** Checks whether the workspace serves a group, `v1` included. @throws ApiError on other answers */
async function discovered(session: Session, path: string): Promise<Discovered> {
  let why = "its lists of API groups are empty";
  for (const [where, list] of [
    ["apis", "groups"],
    ["api", "versions"],
  ] as const) {
    const target = `/clusters/${path}/${where}`;
    const answer = await ask(session, target);
    const { status, location, body } = answer;
    // The message says whether this server or the target of a mount denies access.
    if (status === 403) return { is: "denied", why: refusal(target, answer).message };
    if (status >= 300 && status < 400 && location !== undefined) return { is: "redirect", location };
    if (status >= 300 && status !== 404) throw refusal(target, answer);
    if (status === 404) why = refusal(target, answer).message;
    const names = status === 404 ? undefined : body?.[list];
    if (Array.isArray(names) && names.length > 0) return { is: "served" };
  }
  return { is: "nothing", why };
}

function redirectedTo({ upstream, place }: Session, path: string, location: string): string {
  const url = new URL(location, upstream.url).href;
  const to = parseWorkspaceUrl(url);
  if (to !== undefined && to.base === place.base) return to.path;
  throw new Failure(
    `workspace ${JSON.stringify(path)} redirects to ${url}, which is not a workspace of this server: use a kubeconfig of that server`,
  );
}

/** Returns the Workspace of a path from its parent. `undefined` if the user may not read it, or the path has no parent. */
export async function workspaceAt(session: Session, path: string): Promise<Workspace | "missing" | undefined> {
  const parent = parentPath(path);
  if (parent === undefined) return path === "root" ? ROOT : undefined;
  try {
    return await session.client(parent).resource(WORKSPACES).get(baseName(path), session.patience);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.code === 404 ? "missing" : undefined;
  }
}

/** The root has no Workspace, and its type no path. */
const ROOT = { spec: { type: { name: "root" } } } as Workspace;

/**
 * Returns the ClusterProxy whose cluster replaces a workspace: the oldest one with `replacesWorkspace` and a URL. `undefined`
 * if there is none that the user may read.
 */
export async function replacing(session: Session, path: string): Promise<string | undefined> {
  const proxies = await known(session.client(path).resource(CLUSTER_PROXIES).all(session.patience));
  const ofWorkspace = (proxies?.items ?? []).filter(
    ({ spec, status }) => spec?.replacesWorkspace === true && status?.URL !== undefined,
  );
  const [oldest] = ofWorkspace.sort(
    ({ metadata: one }, { metadata: other }) =>
      order(one.creationTimestamp ?? "", other.creationTimestamp ?? "") || order(one.name ?? "", other.name ?? ""),
  );
  return oldest?.metadata.name;
}

const order = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
