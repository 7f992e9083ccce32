import type { Mount } from "@virtual-workspaces/kcp";
import type { MountType, NoTarget, Target } from "@virtual-workspaces/kcp/targets";
import { none } from "./no-target.ts";

const NO_PATH = none("Unknown", "PathMissing", "spec.path is required: set the path of a workspace");

/** Options of {@link redirectMount}. */
export interface RedirectMountOptions {
  /**
   * `https://host` of the server with the workspaces. Clients send no token to a host other than the requested one.
   * @default the requested host
   */
  readonly origin?: string;
}

/**
 * Returns the type `Redirect`: the server redirects callers (307) to the workspace at `spec.path`, where they use their own
 * identity. Security: the redirect reveals nothing about the workspace, since the server does not check that it exists.
 *
 * @throws Error on an invalid origin
 */
export function redirectMount({ origin }: RedirectMountOptions = {}): MountType {
  if (origin !== undefined && (!/^https?:$/.test(new URL(origin).protocol) || new URL(origin).origin !== origin))
    throw new Error("redirectMount: invalid origin: use http or https with host and port only");
  const resolve = ({ spec: { path } }: Mount): Target | NoTarget =>
    path === undefined ? NO_PATH : { kind: "redirect", path, ...(origin !== undefined && { origin }) };
  return { type: "Redirect", resolve };
}

/**
 * Returns the type `Workspace`: the workspace at `spec.path`, served in another place. That workspace may be mounted itself. Callers
 * keep their identity, and that workspace authorizes them.
 */
export function workspaceMount(): MountType {
  const resolve = ({ spec: { path } }: Mount): Target | NoTarget =>
    path === undefined ? NO_PATH : { kind: "workspace", path };
  return { type: "Workspace", resolve };
}
