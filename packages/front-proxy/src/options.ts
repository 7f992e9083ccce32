import type { Authenticator, ServerOptions, VirtualWorkspace } from "@virtual-workspaces/framework";
import type { JwtSettings } from "@virtual-workspaces/framework/authn";
import type { Component, Log, Metrics } from "@virtual-workspaces/framework/server";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { GroupFilter } from "./callers.ts";
import type { Mapping } from "./mapping/mapping.ts";
import type { RemoteIndex } from "./places/remote-index.ts";

/** Options of a front proxy. */
export interface FrontProxyOptions
  extends Pick<
    ServerOptions,
    | "audit"
    | "closeDelay"
    | "closeTimeout"
    | "corsAllowedOrigins"
    | "limits"
    | "onRequest"
    | "pages"
    | "authenticationFailures"
    | "tls"
  > {
  /** Paths and their servers: {@link readMapping}. {@link FrontProxy.add} adds more at run time. */
  readonly mapping: readonly Mapping[];
  /**
   * Authenticators of callers, by client certificate, OpenID Connect and so on. Unknown callers without a client certificate
   * are forwarded without an identity; the upstreams authenticate their tokens.
   */
  readonly authentication: readonly Authenticator[];
  /** Groups that upstreams receive. @default all except those that grant rights within the system, as in kcp */
  readonly groups?: GroupFilter;
  /** Shards, or the index of them in another process; required for the path `/clusters/`. The caller closes them. */
  readonly shards?:
    | {
        /** Server of `root`, with the credentials of an administrator (`--root-kubeconfig`). */
        readonly root: Upstream;
        /** Options of the connection to each shard, with the credentials of an administrator; all but its URL (`--shards-kubeconfig`). */
        readonly read: Omit<UpstreamOptions, "url">;
      }
    | RemoteIndex;
  /**
   * Serves the PathMappings in `root`, with the credentials of an administrator; the caller closes the upstream. Security:
   * their authors choose where requests below `/services` go that `mapping` lacks, and can read these requests.
   * @default no PathMappings
   */
  readonly pathMappings?: {
    readonly root: Upstream;
    /** Whether to write their status. Of several processes with the same mapping, one is enough. @default true */
    readonly writesStatus?: boolean;
  };
  /**
   * Authenticates callers at paths with `{cluster}` by the issuers that the type of that workspace names (kcp's feature gate
   * `WorkspaceAuthentication`). The settings are those of `workspaceAuthentication` of a workspace server, which does this
   * itself at `/clusters/`. Needs `/clusters/`, whose shards have the types. Security: upstreams must respect
   * `authentication.kcp.io/scopes`, because the creator of a workspace may choose the names of its users.
   *
   * @default false: tokens are forwarded to upstreams, as for every unknown caller
   */
  readonly workspaceAuthentication?: false | Omit<JwtSettings, "log">;
  /** Authorizes requests for `/metrics`, and adds families to them. @default none are allowed */
  readonly metrics?: Pick<Metrics, "authorize"> & Partial<Pick<Metrics, "families" | "sum">>;
  /** Pages about the program at `/statusz` and `/flagz`. @default none */
  readonly component?: Component;
  /** Additional views, before mapped paths. Unknown callers are 401 there, unless a view has its own authentication. @default none */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
  readonly log: Log;
}
