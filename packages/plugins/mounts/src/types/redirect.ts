import type { Mount, MountType, NoTarget, Target } from "@virtual-workspaces/kcp";
import { none } from "./none.ts";

/** What {@link redirectMount} is given. */
export interface RedirectMountOptions {
  /**
   * `https://host` of the server that has the workspaces. Clients send no token to another host than they have asked.
   * @default the same as was asked
   */
  readonly origin?: string;
}

/**
 * The type `Redirect`: whoever asks is sent (307) to the workspace at `spec.path`, and asks there as themselves. Whether there is such a
 * workspace is not looked at: who may not enter it learns nothing.
 *
 * @throws Error on an origin that is none
 */
export function redirectMount({ origin }: RedirectMountOptions = {}): MountType {
  if (origin !== undefined && (!/^https?:$/.test(new URL(origin).protocol) || new URL(origin).origin !== origin))
    throw new Error("redirectMount: origin must be http or https, host and port, and nothing behind it");
  const resolve = ({ spec: { path } }: Mount): Target | NoTarget =>
    path === undefined
      ? none("Unknown", "PathMissing", "spec.path: give the path of a workspace")
      : { kind: "redirect", path, ...(origin !== undefined && { origin }) };
  return { type: "Redirect", resolve };
}
