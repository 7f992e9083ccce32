import type { Upstream } from "@virtual-workspaces/transport";
import type { OutboundIdentity } from "./upstream/identity.ts";

/**
 * Workspaces that a view serves, as the command passes them to the view's function: `virtual-workspaces start --view` its
 * own, in the same process; `virtual-workspaces serve` those of `--kubeconfig`, of this server or a kcp. Either is an API
 * server with logical clusters below `/clusters`, so that a view works with both:
 *
 * ```ts
 * export default (workspaces: Workspaces) =>
 *   defineVirtualWorkspace({ …, authorize: subjectAccessReview(workspaces), resources: [Kind.serve(forward({ resource: Kind, ...workspaces }))] });
 * ```
 */
export interface Workspaces {
  /** API server. Security: requests without an `identity` have administrator rights, for any caller. The command closes it. */
  readonly upstream: Upstream;
  /**
   * Identity for `forward()`: the caller with all scopes, warrants and system groups. The server knows them by the same
   * names, because it, or its front proxy, authenticates the callers.
   */
  readonly identity: OutboundIdentity;
  /**
   * Name of the shard of these workspaces, with which a view publishes its URL (`publishURLs` of `@virtual-workspaces/kcp`).
   *
   * @default none, if the command does not set it
   */
  readonly shard?: string;
  /**
   * Logical clusters of all shards, by name or path, and `root` with the Shards; {@link upstream} has those of one shard. It
   * has administrator rights too, and the command closes it.
   * @default {@link upstream}
   */
  readonly everywhere?: Upstream;
}

/** Value of {@link Workspaces.identity} for a server that both authenticates callers and has the objects. */
export const sameCaller: Workspaces["identity"] = ({ name, uid, groups, extra }) => ({
  ...{ name, groups, extra },
  ...(uid === "" ? {} : { uid }),
});
