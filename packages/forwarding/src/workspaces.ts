import type { Impersonation } from "@virtual-workspaces/client/http";
import { type Identity, User } from "@virtual-workspaces/framework";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
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
  /**
   * API server. Security: requests without an `identity` have the rights of the kubeconfig's user, those of an administrator in
   * `virtual-workspaces start`, for any caller. The command closes it.
   */
  readonly upstream: Upstream;
  /**
   * Identity for `forward()`: the caller with all scopes, warrants and system groups. The server knows them by the same
   * names, because it, or its front proxy, authenticates the callers.
   */
  readonly identity: OutboundIdentity;
  /**
   * Workspace in the URL of the kubeconfig, by name or path. It is the only one that a credential of a single workspace can
   * reach, such as one that kcp-operator creates.
   * @default none: `virtual-workspaces start`, or a kubeconfig whose URL names no workspace
   */
  readonly workspace?: string;
  /**
   * Returns the options of a connection to another URL with the credential and the authorities of the kubeconfig, such as to a URL
   * in an endpoint slice: `connect: (url) => ({ upstream: connectionTo(url), cluster: "*" })`. Security: it sends the credential to
   * that URL, so pass only URLs that the provider's workspace lists.
   * @default none: `virtual-workspaces start`
   */
  readonly connectionTo?: (url: string) => UpstreamOptions;
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
export const sameCaller: Workspaces["identity"] = (caller) => {
  const { name, uid, groups, extra } = caller;
  let same = SAME.get(caller);
  if (same === undefined) {
    same = Object.freeze({ name, groups, extra, ...(uid === "" ? {} : { uid }) });
    // A `User` and all of its parts are frozen; other identities are not kept.
    if (caller instanceof User) SAME.set(caller, same);
  }
  return same;
};

/** One object for each user, so that its headers are made once. */
const SAME = new WeakMap<Identity, Impersonation>();
