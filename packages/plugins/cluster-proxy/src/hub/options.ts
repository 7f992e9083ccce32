import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { ServedUrls } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { HubAddress } from "../hubs/lease.ts";
import type { TunnelEndOptions } from "../tunnel/end.ts";

/** What {@link clusterProxy} is over. */
export interface ClusterProxyOptions extends Pick<Workspaces, "upstream" | "everywhere" | "shard"> {
  /** What ClusterProxies say where they are. @default as the Shard says that is named {@link Workspaces.shard}, `root` by default */
  readonly urls?: ServedUrls;
  /**
   * Where this process is reached by itself, and not by a balancer: hubs send one another there what goes by tunnels of another, and agents dial it for a further tunnel.
   * A promise where it is not known yet. @default nowhere: what reaches other hubs does not come by the tunnels of this one
   */
  readonly address?: HubAddress | Promise<HubAddress | undefined>;
  /** How often hubs show one another that they are there, ms: one that has missed three times is gone. @default 5000 */
  readonly renewEvery?: number;
  /** The server that is asked what callers may do. @default `upstream` */
  readonly reviews?: Upstream;
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
  /** How long agents' certificates are good, ms: each renews its own when two thirds of that are over. @default 30 days */
  readonly certificateLifetime?: number;
  /** Windows and heartbeat of tunnels. */
  readonly tunnel?: TunnelEndOptions;
  /** How long a request waits for an agent that dials again, ms. @default 3000 */
  readonly patience?: number;
  /** How long an agent that has left may be on its way before its ClusterProxy says that it is gone, ms. @default 10000 */
  readonly grace?: number;
  /** @default the machine's clock */
  readonly now?: () => Date;
  /** Told what goes wrong, without anything secret. @default a process warning */
  readonly onError?: (error: unknown) => void;
}
