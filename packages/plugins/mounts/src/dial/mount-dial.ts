import type { Dial } from "@virtual-workspaces/transport";
import { Addresses } from "./addresses.ts";
import { type Lookup, restrictedDial } from "./restricted-dial.ts";

/** What {@link mountDial} is given. */
export interface MountDialOptions {
  /** Hosts by name, addresses and networks (`10.0.0.0/8`) that may be dialled although they are restricted. @default none */
  readonly allow?: readonly string[];
  /** How names are resolved, for a network with a resolver of its own. @default the machine's */
  readonly lookup?: Lookup;
}

/**
 * Connects to what workspaces are mounted on, as `mountsView` does: never to this machine, its links or where clouds give out
 * credentials, unless `allow` has them, whatever a name resolves to (DNS rebinding). For a server whose workspaces are mounted by objects of other kinds, whose
 * authors choose the address.
 *
 * @throws Error on what `allow` cannot have
 */
export function mountDial({ allow = [], lookup }: MountDialOptions = {}): Dial {
  return restrictedDial({ addresses: new Addresses(allow), ...(lookup && { lookup }) });
}
