import type { Authenticator, ServerOptions, VirtualWorkspace } from "@virtual-workspaces/framework";
import type { JwtSettings } from "@virtual-workspaces/framework/authn";
import type { Log, Metrics } from "@virtual-workspaces/framework/server";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { GroupFilter } from "./callers.ts";
import type { Mapping } from "./mapping/mapping.ts";

/** What a front proxy is made of. */
export interface FrontProxyOptions
  extends Pick<
    ServerOptions,
    "audit" | "closeDelay" | "closeTimeout" | "limits" | "onRequest" | "authenticationFailures" | "tls"
  > {
  /** Paths, and the servers behind them: {@link readMapping}. More may come and go: {@link FrontProxy.add}. */
  readonly mapping: readonly Mapping[];
  /**
   * Who asks: users of client certificates, of OpenID Connect and so on. Who is not known by these, and shows no client certificate, is let
   * through to the servers behind, which find out by the token, and are told nothing of them.
   */
  readonly authentication: readonly Authenticator[];
  /** Which groups servers behind are told of. @default all but those by which the system gives rights within itself, as in kcp */
  readonly groups?: GroupFilter;
  /** Where the shards are; needed for the path `/clusters/`. Closed by whoever gave it. */
  readonly shards?: {
    /** The server of `root`, asked as one of its administrators (`--root-kubeconfig`). */
    readonly root: Upstream;
    /** How each shard is read, as one of its administrators: all but its URL (`--shards-kubeconfig`). */
    readonly read: Omit<UpstreamOptions, "url">;
  };
  /**
   * Follows the PathMappings in `root`, whose server is asked as one of its administrators, and closed by whoever gave it: who may write
   * these says where requests below `/services` go that `mapping` has not, and reads what comes with them. @default none are followed
   */
  readonly pathMappings?: { readonly root: Upstream };
  /**
   * Has those come in at paths with `{cluster}` whom the issuers know that the type of that workspace names (kcp's feature gate `WorkspaceAuthentication`), and says
   * how these are asked: as `workspaceAuthentication` of a workspace server, which sees to it at `/clusters/` by itself. Needs `/clusters/`, whose shards say
   * what there is. Servers behind must heed `authentication.kcp.io/scopes`: whoever may make a workspace may choose the names of its users.
   *
   * @default their tokens go on to the servers behind, as all that nobody knows
   */
  readonly workspaceAuthentication?: false | Omit<JwtSettings, "log">;
  /** Who may read `/metrics`. @default nobody */
  readonly metrics?: Pick<Metrics, "authorize">;
  /** Served besides, before what is mapped. Who is not known is 401 there, unless a view has a way to log in of its own. @default none */
  readonly virtualWorkspaces?: readonly VirtualWorkspace[];
  readonly log: Log;
}
