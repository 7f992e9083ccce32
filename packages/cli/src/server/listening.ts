import { BlockList, isIP } from "node:net";
import { AllowedOrigins, type AuthenticationFailureLimits } from "@virtual-workspaces/framework/server";
import { isStoreError } from "@virtual-workspaces/store";
import type { LISTENER_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { checked } from "../process/files.ts";

type ListenerFlags = Values<typeof LISTENER_FLAGS>;

/** Address that a server listens on. */
export interface ListenAddress {
  readonly bindAddress: string;
  /** Port; 0 for any free one. */
  readonly port: number;
}

/** Returns the address that a server listens on (`--bind-address`). @default all addresses @throws UsageError */
export function addressOf(flags: Pick<ListenerFlags, "bind-address">): string {
  const address = flags["bind-address"];
  if (isIP(address) !== 0) return address;
  throw new UsageError(`invalid value "${address}" for --bind-address: use an IP address, or 0.0.0.0 or :: for all`);
}

/** Turns an error of listening or starting into a failure with a remedy. */
export function startFailure(error: unknown, { bindAddress, port }: ListenAddress): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  const address = `${bindAddress}:${port}`;
  if (code === "EADDRINUSE")
    return new Failure(
      `${address} is in use: stop the process that listens there, or set another port with --secure-port`,
    );
  if (code === "EACCES")
    return new Failure(`no permission to listen on ${address}: set a port above 1023 with --secure-port`);
  if (code === "EADDRNOTAVAIL")
    return new Failure(
      `${bindAddress} is not an address of this machine: set another one with --bind-address, or 0.0.0.0 for all`,
    );
  if (isStoreError(error)) return new Failure(error.message);
  // The cause is more specific than the store's API error.
  const { cause } = error as { readonly cause?: unknown };
  if (isStoreError(cause)) return new Failure(cause.message);
  return message === undefined || !("status" in (error as object)) ? error : new Failure(message);
}

/** Returns an error handler that uses another port when one is in use. */
export const onInUse =
  <T>(another: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return another();
    throw error;
  };

/** Prints that the server accepts clients. */
export function tellReady(url: string, paths: readonly string[]): void {
  console.log(`Ready in ${(performance.now() / 1000).toFixed(2)} s at ${url}: ${paths.join(" ")}`);
}

/**
 * Reads the addresses whose failed logins are not counted, because proxies there limit their own clients
 * (`--proxy-addresses`).
 *
 * @returns `undefined` for the server's default, the addresses of this machine
 * @throws UsageError
 */
export function authenticationFailuresOf(
  flags: Pick<ListenerFlags, "proxy-addresses">,
): AuthenticationFailureLimits | undefined {
  const trusted = flags["proxy-addresses"] ?? [];
  const odd = trusted.find((text) => !isSubnet(text));
  if (odd !== undefined)
    throw new UsageError(
      `invalid value "${odd}" for --proxy-addresses: use IP addresses, and subnets such as 10.0.0.0/8`,
    );
  return trusted.length === 0 ? undefined : { trusted };
}

/** Reads the origins of browser pages that may use the server (`--cors-allowed-origins`). @throws UsageError */
export function corsAllowedOriginsOf(flags: Pick<ListenerFlags, "cors-allowed-origins">): readonly string[] {
  const origins = flags["cors-allowed-origins"] ?? [];
  checked("--cors-allowed-origins", () => new AllowedOrigins(origins));
  return origins;
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
