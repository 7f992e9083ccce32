import { relay, sameCaller } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";

/** Where the virtual workspaces of a shard are that it does not run itself. */
export interface ForwardedServicesOptions {
  /**
   * Their server (`--shard-virtual-workspace-url`), and by which client certificate it knows the shard
   * (`--shard-client-cert-file`), which may be anybody there. One made of options is closed with the server.
   */
  readonly upstream: Upstream | UpstreamOptions;
  /** Told when it fails us, once for each spell of failures. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Passes on what is asked below `/services` and is no view of this server, as kcp's shard does with
 * `--run-virtual-workspaces=false`: after authentication and without a rule of its own, as the caller, whom `Impersonate-*`
 * names whole. The view there decides. What a client says of itself in such headers, in `X-Remote-*` or in
 * `X-Forwarded-For` does not get there. The shard itself sets workspaces up through it (`initializingworkspaces`): it has to have the
 * views of this very shard.
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
