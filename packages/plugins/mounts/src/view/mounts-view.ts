import { reachable } from "@virtual-workspaces/forwarding";
import { defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { mountAccess } from "./access.ts";
import { mountHandlers } from "./handlers.ts";
import type { MountsViewOptions } from "./options.ts";
import { RunningMounts } from "./running-mounts.ts";

/**
 * Returns the view of Mounts, `/services/mounts/<logical cluster of the Mount>/<Mount>/…`, and the controller that updates their
 * statuses: `status.URL` is this URL or that of another workspace, and `status.phase` is Ready once the target answers. The view
 * calls the workspaces of a shard as a member of `system:masters`, which reads the Secrets that Mounts name.
 *
 * Users with access to a Mount's workspace may call it; the target authorizes them under the identity that the Mount sets. Requests
 * and upgrades are forwarded as bytes. A change of a Mount or its Secret closes the connections to the old target. Security: the
 * view checks the address of each connection, and rejects this machine and addresses with cloud credentials, unless `allow` has
 * them.
 *
 * @throws Error on invalid options
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
  const answers = reachable(given.upstream);
  const access = mountAccess(running.mounts, options);
  return defineVirtualWorkspace({
    name: "mounts",
    path: "/:cluster/:name",
    authorize: access.authorize,
    takesToken: (given.callerHosts ?? []).length > 0,
    // The target answers discovery, reviews and OpenAPI itself.
    handleWhen: () => true,
    ...mountHandlers(running.mounts),
    metrics: () => running.families(),
    ready: async () => {
      await answers();
      await running.ready();
    },
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
