import { relay, sameCaller } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";

/** Location of a shard's virtual workspaces that another server runs. */
export interface ForwardedServicesOptions {
  /**
   * Server of the virtual workspaces (`--shard-virtual-workspace-url`) and the shard's client certificate for it
   * (`--shard-client-cert-file`), which needs impersonation rights. An upstream made from options closes with the server.
   */
  readonly upstream: Upstream | UpstreamOptions;
  /** Called when that server fails, once per run of failures. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Forwards requests below `/services` that no view of this server handles, as kcp's shard does with
 * `--run-virtual-workspaces=false`. It runs after authentication, has no rule of its own, and sends the whole caller in
 * `Impersonate-*`; the view there decides. Security: identity headers of clients (`Impersonate-*`, `X-Remote-*`,
 * `X-Forwarded-For`) are not forwarded. The shard also initializes workspaces through it (`initializingworkspaces`), so that
 * server must serve the views of this very shard.
 */
export function forwardedServices({ upstream, onError }: ForwardedServicesOptions): VirtualWorkspace {
  const passing = relay({
    upstream,
    identity: sameCaller,
    what: "the server of virtual workspaces",
    ...(onError && { onError }),
  });
  return defineVirtualWorkspace({
    name: "virtual-workspaces",
    prefix: "/services",
    path: "/",
    authorize: () => allow(),
    handle: passing.handle,
    upgrade: passing.upgrade,
    setup: () => passing,
  });
}
