import { BlockList, isIP } from "node:net";
import type { AuthenticationFailureLimits } from "@virtual-workspaces/framework/server";
import { isStoreError } from "@virtual-workspaces/store";
import type { LISTENER_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { Failure, UsageError } from "../process/failure.ts";

type ListenerFlags = Values<typeof LISTENER_FLAGS>;

/** Where a server listens. */
export interface ListenAddress {
  readonly bindAddress: string;
  /** 0 for any free one. */
  readonly port: number;
}

/** Where a server listens (`--bind-address`). @default all of this machine @throws UsageError */
export function addressOf(flags: Pick<ListenerFlags, "bind-address">): string {
  const address = flags["bind-address"];
  if (isIP(address) !== 0) return address;
  throw new UsageError(`--bind-address ${address}: give an IP address, 0.0.0.0 or :: for all of this machine`);
}

/** What keeps a server from listening or starting. */
export function startFailure(error: unknown, { bindAddress, port }: ListenAddress): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  const address = `${bindAddress}:${port}`;
  if (code === "EADDRINUSE")
    return new Failure(`${address} is taken: stop who has it, or name another port with --secure-port`);
  if (code === "EACCES")
    return new Failure(`this user may not listen at ${address}: name a port above 1023 with --secure-port`);
  if (code === "EADDRNOTAVAIL")
    return new Failure(
      `${bindAddress} is no address of this machine: name one with --bind-address, or 0.0.0.0 for all`,
    );
  if (isStoreError(error)) return new Failure(error.message);
  // An answer of the store, as clients would get it; its own words say more.
  const { cause } = error as { readonly cause?: unknown };
  if (isStoreError(cause)) return new Failure(cause.message);
  return message === undefined || !("status" in (error as object)) ? error : new Failure(message);
}

/** Says that clients can come. */
export function tellReady(url: string, paths: readonly string[]): void {
  console.log(`Ready in ${(performance.now() / 1000).toFixed(2)} s at ${url}: ${paths.join(" ")}`);
}

/**
 * From where failed logins are not counted, since proxies are there that count those of their own clients (`--proxy-addresses`).
 *
 * @returns `undefined` for this machine's own, the default of servers
 * @throws UsageError
 */
export function authenticationFailuresOf(
  flags: Pick<ListenerFlags, "proxy-addresses">,
): AuthenticationFailureLimits | undefined {
  const trusted = flags["proxy-addresses"] ?? [];
  const odd = trusted.find((text) => !isSubnet(text));
  if (odd !== undefined)
    throw new UsageError(`--proxy-addresses ${odd}: give IP addresses, and subnets like 10.0.0.0/8`);
  return trusted.length === 0 ? undefined : { trusted };
}

function isSubnet(text: string): boolean {
  const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0) return false;
  try {
    new BlockList().addSubnet(address, Number(length ?? 0), family === 6 ? "ipv6" : "ipv4");
    return true;
  } catch {
    return false;
  }
}
