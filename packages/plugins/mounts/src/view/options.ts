import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { ServedUrls } from "@virtual-workspaces/kcp/informers";
import type { MountType } from "@virtual-workspaces/kcp/targets";
import type { Upstream } from "@virtual-workspaces/transport";
import type { Lookup } from "../dial/restricted-dial.ts";

/** What {@link mountsView} is over. */
export interface MountsViewOptions extends Pick<Workspaces, "upstream" | "everywhere" | "shard"> {
  /** What `spec.type` may say. @default `URL`, `Redirect` and `Workspace` */
  readonly types?: readonly MountType[];
  /**
   * Hosts by name, addresses and networks (`10.0.0.0/8`) that mounts may lead to although they are restricted: this machine, its links,
   * the addresses where clouds give out credentials, multicast. A host that is allowed may be asked by plain http, too. Whoever may
   * write a Mount reaches what is allowed here with this server's place in the network. @default none
   */
  readonly allow?: readonly string[];
  /**
   * Hosts that get the callers' own tokens (identity `Caller`): each of them can then do whatever its callers may. @default none,
   * since whoever may write a Mount would gather tokens
   */
  readonly callerHosts?: readonly string[];
  /** What mounts say where they are. @default as the Shard says that is named {@link Workspaces.shard}, `root` by default */
  readonly urls?: ServedUrls;
  /** The server that is asked whether callers may enter a workspace. @default `upstream` */
  readonly reviews?: Upstream;
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
  /** How names are resolved, for a network with a resolver of its own. @default the machine's */
  readonly lookup?: Lookup;
  /** Told what goes wrong, with addresses, and without anything secret. @default a process warning */
  readonly onError?: (error: unknown) => void;
}
