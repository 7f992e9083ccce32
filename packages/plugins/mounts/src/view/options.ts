import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { ServedUrls } from "@virtual-workspaces/kcp/informers";
import type { MountType } from "@virtual-workspaces/kcp/targets";
import type { Upstream } from "@virtual-workspaces/transport";
import type { Lookup } from "../dial/restricted-dial.ts";

/** Options of {@link mountsView}. */
export interface MountsViewOptions extends Pick<Workspaces, "upstream" | "everywhere" | "shard"> {
  /** Allowed values of `spec.type`. @default `URL`, `Redirect` and `Workspace` */
  readonly types?: readonly MountType[];
  /**
   * Hosts by name, addresses and networks (`10.0.0.0/8`) that mounts may lead to although they are restricted: this machine, its
   * links, addresses with cloud credentials, multicast. They also allow plain HTTP. Security: users who may write a Mount
   * reach these hosts from this server's place in the network.
   * @default none
   */
  readonly allow?: readonly string[];
  /**
   * Hosts that receive callers' own tokens (identity `Caller`). Security: each can act as its callers.
   * @default none, since users who may write a Mount could collect tokens
   */
  readonly callerHosts?: readonly string[];
  /** URLs for the statuses of mounts. @default those of the Shard {@link Workspaces.shard}, `root` by default */
  readonly urls?: ServedUrls;
  /** Server that authorizes access to a workspace. @default `upstream` */
  readonly reviews?: Upstream;
  /** Time for which a positive authorization is cached, in ms. @default 10000 */
  readonly allowCache?: number;
  /** Resolver of names, for a network with its own. @default the system's resolver */
  readonly lookup?: Lookup;
  /** Receives errors, with addresses and without secrets. @default a process warning */
  readonly onError?: (error: unknown) => void;
}
