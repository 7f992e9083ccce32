import { lookup as resolveName } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import type { Dial } from "@virtual-workspaces/transport";
import { untilAborted } from "@virtual-workspaces/transport";
import { Addresses } from "./restrictions.ts";

/** The addresses of a name, in the order in which they are tried. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** A target that may not be asked. Its message names the host, never an address. */
export class RestrictedTarget extends Error {}

/** What {@link restrictedDial} is given. */
export interface RestrictedDialOptions {
  readonly addresses: Addresses;
  /** @default mounts */
  readonly whose?: string;
  readonly lookup?: Lookup;
}

/** After so long without a byte the kernel asks whether the other side is there, ms. As the transport has it. */
const PROBED_AFTER = 4_000;

/**
 * Connects to targets that strangers name. A name is looked up here, each time, and the connection goes to an address that was
 * looked at: a name that leads elsewhere a moment later (DNS rebinding) leads nobody there.
 */
export function restrictedDial({ addresses, whose = "mounts", lookup = systemLookup }: RestrictedDialOptions): Dial {
  return async ({ host, port }, { signal }) => {
    const found = isIP(host) === 0 ? await lookup(host) : [host];
    signal.throwIfAborted();
    const may = addresses.hasHost(host)
      ? found.filter((one) => isIP(one) !== 0)
      : found.filter((one) => addresses.mayDial(one));
    if (found.length > 0 && may.length === 0)
      throw new RestrictedTarget(
        `${host}: its address is one that ${whose} may not lead to, unless whoever runs this server allows it`,
      );
    return firstOf(may, { host, port, signal });
  };
}

interface DialTarget {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** One after the other, as they come. @throws what the last one fails with */
async function firstOf(addresses: readonly string[], { host, port, signal }: DialTarget): Promise<Socket> {
  let failure: unknown = new Error(`${host}: it has no address`);
  for (const address of addresses) {
    try {
      return await connected(address, port, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

async function connected(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port });
  socket.setNoDelay(true).setKeepAlive(true, PROBED_AFTER);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once("connect", resolve).once("error", reject);
  try {
    await untilAborted(promise, signal);
    return socket;
  } catch (error) {
    socket.on("error", () => undefined).destroy();
    throw error;
  } finally {
    socket.off("connect", resolve).off("error", reject);
  }
}

async function systemLookup(host: string): Promise<string[]> {
  const found = await resolveName(host, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
}

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
