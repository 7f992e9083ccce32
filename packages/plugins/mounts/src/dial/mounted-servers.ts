import type { Dial } from "@virtual-workspaces/transport";
import { Addresses } from "./addresses.ts";
import { type Lookup, restrictedDial } from "./restricted-dial.ts";

/** What {@link mountedServers} is given. */
export interface MountReachOptions {
  /**
   * Hosts by name, addresses and networks (`10.0.0.0/8`) that may be asked although they are restricted; by plain http, too.
   * @default none
   */
  readonly allow?: readonly string[];
  /** Who chooses the addresses, for what is said of those that may not be asked. @default mounts */
  readonly whose?: string;
  /** How names are resolved, for a network with a resolver of its own. @default the machine's */
  readonly lookup?: Lookup;
}

/** Which servers are asked on which workspaces are mounted: `mounts.others` of a workspace server. */
export interface MountedServers {
  /** Connects to them: never to this machine, its links or where clouds give out credentials, whatever a name resolves to. */
  readonly dial: Dial;
  /** Whether a host may be asked by plain http. */
  readonly mayAskPlain: (host: string) => boolean;
}

/**
 * Asks what workspaces are mounted on as `mountsView` does: at no address that is restricted, and by plain http no host, unless `allow` has
 * it. For a server whose workspaces are mounted by objects of other kinds, whose authors choose the address.
 *
 * @throws Error on what `allow` cannot have
 */
export function mountedServers({ allow = [], whose, lookup }: MountReachOptions = {}): MountedServers {
  const addresses = new Addresses(allow);
  return {
    dial: restrictedDial({ addresses, ...(whose !== undefined && { whose }), ...(lookup && { lookup }) }),
    mayAskPlain: (host) => addresses.isAllowed(host),
  };
}
