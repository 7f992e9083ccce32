import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { hostOf } from "@virtual-workspaces/transport";
import type { FeatureAddress, ShardUrls } from "@virtual-workspaces/workspace-server";
import { UsageError } from "../process/failure.ts";
import { addressOf } from "../server/listening.ts";
import { type ShardUrl, shardUrlOf, urlOf } from "../server/urls.ts";
import type { StartFlags } from "./flags.ts";

const ANY: readonly string[] = ["0.0.0.0", "::"];

/** Address that a server listens on, and its names. */
export interface Endpoint {
  readonly bindAddress: string;
  /** Port; 0 for any free one. */
  readonly port: number;
  /** Host of the default URLs. */
  readonly host: string;
  /** URLs of `root` in the flags. */
  readonly urls: Partial<ShardUrls>;
  /** URL of the virtual workspaces in the flags. */
  readonly views: ShardUrl | undefined;
}

/** Reads the flags. @throws UsageError */
export function endpointOf(flags: StartFlags): Endpoint {
  const bindAddress = addressOf(flags);
  const baseURL = urlOf(flags, "shard-base-url");
  const externalURL = urlOf(flags, "shard-external-url");
  const views = shardUrlOf(flags, "shard-virtual-workspace-url");
  return {
    bindAddress,
    port: portOf(flags),
    host: flags["external-hostname"] ?? (ANY.includes(bindAddress) ? ownAddress() : bindAddress),
    urls: {
      ...(baseURL && { baseURL }),
      ...(externalURL && { externalURL }),
      ...(views && { virtualWorkspaceURL: views.of(ROOT_SHARD) }),
    },
    views,
  };
}

/** Returns the URL of a shard, and that of this process without a load balancer in front. */
export function shardAddress(place: Endpoint, shard: string, port: number): FeatureAddress {
  // The URLs of the flags are those that users connect to.
  const processURL = urlsAt({ ...place, urls: {} }, port).baseURL;
  return { baseURL: shard === ROOT_SHARD ? urlsAt(place, port).baseURL : processURL, processURL };
}

/** Returns all URLs, once the port is known. Without a flag, a URL is the base URL, as in kcp. */
export function urlsAt({ host, urls }: Endpoint, port: number): ShardUrls {
  const baseURL = urls.baseURL ?? `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { baseURL, externalURL: baseURL, virtualWorkspaceURL: baseURL, ...urls };
}

/** Returns the names for the server's certificate. @param more hosts of features */
export function namesAt(
  place: Endpoint,
  more: readonly string[],
): { readonly hosts: readonly string[]; readonly addresses: readonly string[] } {
  const urls = Object.values(place.urls).map((url) => hostOf(new URL(url)));
  const bound = ANY.includes(place.bindAddress) ? [] : [place.bindAddress];
  const all = [...new Set([place.host, ...urls, ...more, ...bound, "localhost", "127.0.0.1", "::1"])];
  return {
    hosts: all.filter((name) => isIP(name) === 0),
    addresses: all.filter((name) => isIP(name) !== 0),
  };
}

/**
 * Returns the port of the server's last URL, to be used again if any port is allowed; `undefined` without one.
 *
 * @param server URL in the last kubeconfig
 */
export function lastPort({ port, urls }: Endpoint, server: string | undefined): number | undefined {
  // A URL of a flag is that of another listener, such as a load balancer.
  if (port !== 0 || urls.baseURL !== undefined || server === undefined || !URL.canParse(server)) return undefined;
  return Number(new URL(server).port) || undefined;
}

function portOf(flags: StartFlags): number {
  const port = flags["secure-port"];
  const any = flags["experimental-bind-free-port"] ?? false;
  if (any && port !== 0) throw new UsageError("--secure-port=0 required if --experimental-bind-free-port is set");
  if (!any && port === 0)
    throw new UsageError(
      'invalid value "0" for --secure-port: use a port from 1 to 65535, or add --experimental-bind-free-port for any free one',
    );
  return port;
}

/** Returns an address of this machine for other machines, if it has one. */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
