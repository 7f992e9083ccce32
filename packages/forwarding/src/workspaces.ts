import type { Upstream } from "@virtual-workspaces/transport";
import type { OutboundIdentity } from "./upstream/identity.ts";

/**
 * The workspaces that a view is over, as whoever loads the view gives them to its function: `virtual-workspaces start --view`
 * its own, within the process, `virtual-workspaces serve` those that `--kubeconfig` names, of this server or of a kcp. Both
 * are an API server with logical clusters below `/clusters`, so that a view need not know which it is:
 *
 * ```ts
 * export default (workspaces: Workspaces) =>
 *   defineVirtualWorkspace({ …, authorize: subjectAccessReview(workspaces), resources: [Kind.serve(forward({ resource: Kind, ...workspaces }))] });
 * ```
 */
export interface Workspaces {
  /**
   * The server, asked as one of its administrators: what a view asks it for without an `identity` is allowed, whoever the
   * caller is. Closed by whoever gave it.
   */
  readonly upstream: Upstream;
  /**
   * As whom `forward()` asks on behalf of a caller: as that caller, whole, scopes, warrants and groups of the system too.
   * The server knows these by the same names, since it, or its front proxy, is who says who the caller is.
   */
  readonly identity: OutboundIdentity;
  /**
   * The name of the shard whose workspaces these are: by it a view publishes its URL (`publishURLs` of `@virtual-workspaces/kcp`).
   *
   * @default whoever runs the view does not say
   */
  readonly shard?: string;
  /**
   * The logical clusters of all shards, by name or path, and `root` with the Shards: where there are several, {@link upstream} has
   * those of one. Asked as one of its administrators as well, and closed by whoever gave it. @default {@link upstream}
   */
  readonly everywhere?: Upstream;
}

/** What {@link Workspaces.identity} is for one server that both says who callers are and has the objects. */
export const sameCaller: Workspaces["identity"] = ({ name, uid, groups, extra }) => ({
  ...{ name, groups, extra },
  ...(uid === "" ? {} : { uid }),
});
