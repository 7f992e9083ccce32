import { defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { mountAccess } from "./access.ts";
import { mountHandlers } from "./handlers.ts";
import type { MountsViewOptions } from "./options.ts";
import { RunningMounts } from "./running-mounts.ts";

/**
 * What Mounts lead to, `/services/mounts/<logical cluster of the Mount>/<Mount>/…`, and the controller that says how each of them is:
 * `status.URL` of a Mount is this URL, or that of another workspace, and `status.phase` is Ready once its target answers. Over the workspaces of a shard, asked
 * as a member of `system:masters`, by which the Secrets are read that Mounts name.
 *
 * Whoever may enter the workspace of a Mount may ask; the target decides what they may do, as whom the Mount says. Bytes pass as they
 * are, upgrades too. Targets are dialled at addresses that were looked at, never at this machine or where clouds give out credentials,
 * unless `allow` has them. What is open through a Mount is cut when the Mount, or its Secret, leads elsewhere.
 *
 * @throws Error on options that cannot be used
 *
 * @example
 * ```ts
 * import type { Workspaces } from "@virtual-workspaces/forwarding";
 * import { mountManifests, mountsView } from "@virtual-workspaces/mounts";
 *
 * export const manifests = mountManifests();
 *
 * export default (workspaces: Workspaces) => mountsView({ ...workspaces, allow: ["10.0.0.0/8"] });
 * ```
 * @see docs/how-to/mounts.md
 */
export function mountsView({ onError = warn, ...given }: MountsViewOptions): VirtualWorkspace {
  const options = { ...given, onError };
  const running = new RunningMounts(options);
  const access = mountAccess(running.mounts, options);
  return defineVirtualWorkspace({
    name: "mounts",
    path: "/:cluster/:name",
    authorize: access.authorize,
    takesToken: (given.callerHosts ?? []).length > 0,
    // Discovery, reviews and OpenAPI are the target's own.
    handleWhen: () => true,
    ...mountHandlers(running.mounts),
    ready: () => running.ready(),
    setup: () => {
      const held = running.start();
      return {
        [Symbol.asyncDispose]: async () => {
          await held[Symbol.asyncDispose]();
          await access[Symbol.asyncDispose]();
        },
      };
    },
  });
}

function warn(error: unknown): void {
  process.emitWarning(`view of mounts: ${String(error)}`);
}
