import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import type { RawRequest, VirtualWorkspace } from "@virtual-workspaces/framework";
import { clusterURL } from "@virtual-workspaces/kcp";
import { getCondition, READY_CONDITION } from "@virtual-workspaces/kcp/conditions";
import { mountNotReady, type RedirectTarget } from "@virtual-workspaces/kcp/targets";
import type { KnownMount, KnownMounts } from "../targets/known-mounts.ts";
import type { TargetContext } from "../targets/target-context.ts";
import { found, type MountParams } from "./access.ts";

type Handlers = Required<Pick<VirtualWorkspace<MountParams>, "handle" | "upgrade">>;
type Request = RawRequest<MountParams>;

/** Forwards requests to the target of a mount, or redirects them. */
export function mountHandlers(mounts: KnownMounts): Handlers {
  return {
    handle: async (req, res, request) => {
      const to = wayOf(mounts, request);
      if ("location" in to) redirect(res, to.location);
      else await to.handle(req, res, request);
    },
    upgrade: async (req, socket, request) => {
      const to = wayOf(mounts, request);
      if ("location" in to) await refuseUpgrade(socket, to.location);
      else await to.upgrade(req, socket, request);
    },
  };
}

/** @throws ApiError 404, 503 */
function wayOf(mounts: KnownMounts, request: Request): TargetContext | { readonly location: string } {
  const known = found(mounts, request.params);
  const { target, mount } = known;
  if (target.kind === "redirect") return { location: locationOf(target, request) };
  if (target.kind === "workspace")
    throw ApiError.notFoundPath(
      `${aboutOf(known)} is of the type Workspace: it is served at ${clusterURL("", target.path)}`,
    );
  if (target.kind === "none" || mount.status?.phase !== "Ready") throw notReady(known);
  return mounts.contextOf(known, target);
}

/** Appends the request's path and query unchanged. */
function locationOf({ origin = "", path }: RedirectTarget, { tail, search }: Request): string {
  return `${clusterURL(origin, path)}${tail}${search}`;
}

/** Returns 503 with the mount, its phase, the time of the last change and the controller's message. */
function notReady(known: KnownMount): ApiError {
  const { status, metadata } = known.mount;
  const { target } = known;
  const condition = getCondition(status?.conditions, READY_CONDITION);
  const phase = target.kind === "none" ? target.phase : (status?.phase ?? "Initializing");
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp ?? "an unknown time";
  const why = target.kind === "none" ? target.message : (condition?.message ?? "its target has not been probed yet");
  return mountNotReady(`${aboutOf(known)} is not ready: ${phase} since ${since}: ${why}`);
}

function aboutOf({ mount }: KnownMount): string {
  return `the mount ${quote(mount.metadata.name ?? "")}`;
}

function redirect(res: ServerResponse, location: string): void {
  res.writeHead(307, { Location: location, "Cache-Control": "no-cache, private", "Content-Length": 0 }).end();
}

async function refuseUpgrade(socket: Duplex, location: string): Promise<void> {
  const lines = ["HTTP/1.1 307 Temporary Redirect", `Location: ${location}`, "Content-Length: 0", "Connection: close"];
  socket.end(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
}
