import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { hostOf } from "@virtual-workspaces/transport";
import type { ShardUrls } from "@virtual-workspaces/workspace-server";
import { UsageError } from "../process/failure.ts";
import { addressOf } from "../server/listening.ts";
import { type ShardUrl, shardUrlOf, urlOf } from "../server/urls.ts";
import type { StartFlags } from "./flags.ts";

const ANY: readonly string[] = ["0.0.0.0", "::"];

/** Where a server listens, and by which names it is called. */
export interface Endpoint {
  readonly bindAddress: string;
  /** 0 for any free one. */
  readonly port: number;
  /** As clients call it that are told no other URL. */
  readonly host: string;
  /** What the flags say, of `root`. */
  readonly urls: Partial<ShardUrls>;
  /** Where virtual workspaces are, if the flags say. */
  readonly views: ShardUrl | undefined;
  /** Where this process is reached by itself, if the flags say. */
  readonly hub: string | undefined;
}

/** @throws UsageError */
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
    hub: urlOf(flags, "cluster-proxy-hub-url"),
  };
}

/** Where this process is reached by itself, and not by what stands before it. */
export function hubURL({ hub, ...place }: Endpoint, port: number): string {
  return hub ?? urlsAt({ ...place, hub, urls: {} }, port).baseURL;
}

/** All URLs, once the port is known: those that are not given follow from the base, as in kcp. */
export function urlsAt({ host, urls }: Endpoint, port: number): ShardUrls {
  const baseURL = urls.baseURL ?? `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { baseURL, externalURL: baseURL, virtualWorkspaceURL: baseURL, ...urls };
}

/** What the server's certificate has to name. */
export function namesAt(place: Endpoint): { readonly hosts: readonly string[]; readonly addresses: readonly string[] } {
  const urls = [...Object.values(place.urls), place.hub ?? []].flat().map((url) => hostOf(new URL(url)));
  const bound = ANY.includes(place.bindAddress) ? [] : [place.bindAddress];
  const all = [...new Set([place.host, ...urls, ...bound, "localhost", "127.0.0.1", "::1"])];
  return {
    hosts: all.filter((name) => isIP(name) === 0),
    addresses: all.filter((name) => isIP(name) !== 0),
  };
}

function portOf(flags: StartFlags): number {
  const port = flags["secure-port"];
  const any = flags["experimental-bind-free-port"] ?? false;
  if (any && port !== 0) throw new UsageError("--secure-port=0 required if --experimental-bind-free-port is set");
  if (!any && port === 0)
    throw new UsageError("--secure-port 0: give a port from 1 to 65535, or --experimental-bind-free-port for any");
  return port;
}

/** An address by which other machines reach this one, if it has any. */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

/** The names of the shards besides `root` that there are in any case, as kcp calls them. @throws UsageError */
export function shardNames(flags: StartFlags): readonly string[] {
  const count = flags.shards;
  if (count === 0) throw new UsageError("--shards 0: give a number from 1 on: the first is root");
  return Array.from({ length: count - 1 }, (_, index) => `shard-${index + 1}`);
}
