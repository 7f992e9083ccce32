import { lookup as resolveName } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { RestrictedTarget } from "@virtual-workspaces/kcp/targets";
import type { Dial } from "@virtual-workspaces/transport";
import { untilAborted } from "@virtual-workspaces/transport";
import { Addresses } from "./restrictions.ts";

/** Resolves a name to addresses, in the order of attempts. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Options of {@link restrictedDial}. */
export interface RestrictedDialOptions {
  readonly addresses: Addresses;
  /** Party that chooses the addresses, for error messages. @default mounts */
  readonly whose?: string;
  readonly lookup?: Lookup;
}

/** Idle time before TCP keep-alive probes, in ms, as in the transport. */
const PROBED_AFTER = 4_000;

/**
 * Returns a dial function for targets that untrusted users choose. Security: it resolves the name for each connection and connects
 * to a checked address, which prevents DNS rebinding.
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
        `${host}: its address is restricted for ${whose}: ask the operator of this server to allow it`,
      );
    return firstOf(may, { host, port, signal });
  };
}

interface DialTarget {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Tries the addresses in their order. @throws the error of the last attempt */
async function firstOf(addresses: readonly string[], { host, port, signal }: DialTarget): Promise<Socket> {
  let failure: unknown = new Error(`${host}: the name has no address`);
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

/** Options of {@link mountedServers}. */
export interface MountReachOptions {
  /**
   * Hosts by name, addresses and networks (`10.0.0.0/8`) that are allowed although they are restricted, also over plain HTTP.
   * @default none
   */
  readonly allow?: readonly string[];
  /** Party that chooses the addresses, for error messages. @default mounts */
  readonly whose?: string;
  /** Resolver of names, for a network with its own. @default the system's resolver */
  readonly lookup?: Lookup;
}

/** Allowed targets of mounted workspaces: `mounts.others` of a workspace server. */
export interface MountedServers {
  /** Connects to a target. Security: never to this machine, its links or addresses with cloud credentials, even by a name. */
  readonly dial: Dial;
  /** Returns whether plain HTTP is allowed for a host. */
  readonly mayAskPlain: (host: string) => boolean;
}

/**
 * Limits the targets of mounted workspaces like `mountsView`: `allow` alone permits restricted addresses and plain HTTP. Use it for
 * a server whose workspaces mount objects of other kinds, whose authors choose the address.
 *
 * @throws Error on an invalid `allow`
 */
export function mountedServers({ allow = [], whose, lookup }: MountReachOptions = {}): MountedServers {
  const addresses = new Addresses(allow);
  return {
    dial: restrictedDial({ addresses, ...(whose !== undefined && { whose }), ...(lookup && { lookup }) }),
    mayAskPlain: (host) => addresses.isAllowed(host),
  };
}
