import {
  baseName,
  isApiError,
  isJsonObject,
  parentPath,
  parseOwnJson,
  statusFrom,
} from "@virtual-workspaces/apimachinery";
import type { WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { header } from "@virtual-workspaces/transport";
import { Failure } from "../usage.ts";
import { WORKSPACES, type Workspace } from "./kinds.ts";
import { placeOf } from "./path.ts";
import type { Session } from "./session.ts";

/** A workspace that one may enter. */
export interface Entered {
  /** Another than asked for where a mount redirects. */
  readonly path: string;
  /** Where it can be read, and there is one. */
  readonly type?: WorkspaceTypeReference;
}

/** How many redirects are followed. */
const MOST_REDIRECTS = 4;

/**
 * Asks whether there is something to enter, as kcp's `kubectl ws` does: by discovery there, and by the Workspace in the one
 * around it, which one may not be allowed to read. Redirects to other workspaces of this server are followed.
 *
 * @throws Failure when it is not there, or not for this user
 */
export async function enter(session: Session, wanted: string): Promise<Entered> {
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
    if (workspace === "missing") throw new Failure(`workspace ${JSON.stringify(path)} not found`);
    throw new Failure(`access to workspace ${JSON.stringify(path)} denied`);
  }
  throw new Failure(
    `workspace ${JSON.stringify(wanted)} redirects to another, and that again, more than ${MOST_REDIRECTS} times`,
  );
}

/** The type in kcp's way: `root:organization`. */
export function typeText({ path = "", name }: WorkspaceTypeReference): string {
  return path === "" ? name : `${path}:${name}`;
}

type Discovered = { readonly is: "served" | "denied" } | { readonly is: "redirect"; readonly location: string };

/** Whether any group is served there, `v1` among them. */
async function discovered(session: Session, path: string): Promise<Discovered> {
  for (const [where, list] of [
    ["apis", "groups"],
    ["api", "versions"],
  ] as const) {
    const { headers, signal } = session.calling;
    const request = { path: `/clusters/${path}/${where}`, headers: ["Accept", "application/json", ...headers] };
    const answer = await session.upstream.send({ ...request, ...(signal && { signal }) });
    if (answer.status === 403 || answer.status === 404) return { is: "denied" };
    const location = header(answer.headers, "location");
    if (answer.status >= 300 && answer.status < 400 && location !== undefined) return { is: "redirect", location };
    const body = jsonOf(answer.body);
    if (answer.status >= 300) throw new Failure(refusal(answer.status, body));
    const names = isJsonObject(body) ? body[list] : undefined;
    if (Array.isArray(names) && names.length > 0) return { is: "served" };
  }
  return { is: "denied" };
}

function redirectedTo({ upstream, place }: Session, path: string, location: string): string {
  const url = new URL(location, upstream.url).href;
  const to = placeOf(url);
  if (to !== undefined && to.base === place.base) return to.path;
  throw new Failure(
    `workspace ${JSON.stringify(path)} redirects to ${url}, which is no workspace of this server: take a kubeconfig of that one`,
  );
}

async function workspaceAt(session: Session, path: string): Promise<Workspace | "missing" | undefined> {
  const parent = parentPath(path);
  if (parent === undefined) return path === "root" ? ROOT : undefined;
  try {
    return await session.client(parent).resource(WORKSPACES).get(baseName(path), session.patience);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.code === 404 ? "missing" : undefined;
  }
}

/** It has no Workspace, and its type no path. */
const ROOT = { spec: { type: { name: "root" } } } as Workspace;

function jsonOf(body: Buffer): unknown {
  try {
    return parseOwnJson(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function refusal(code: number, body: unknown): string {
  const { message } = statusFrom(isJsonObject(body) ? body : {}, { code, message: "" });
  return message === "" ? `the server answered ${code} without a Status` : message;
}
