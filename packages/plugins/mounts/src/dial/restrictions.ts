import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { NoTarget, ProxyTarget } from "@virtual-workspaces/kcp/targets";
import { hostOf } from "@virtual-workspaces/transport";
import { none } from "../types/no-target.ts";

/**
 * Restricted addresses, besides those of the machine's own interfaces. Security: untrusted users must not reach this machine, whose
 * local services trust local clients, its links, or the addresses with instance credentials of clouds (AWS, GCP, Azure, Alibaba,
 * Oracle). RFC 6890, 4291, 3927; vendors' manuals.
 */
const RESTRICTED = [
  "0.0.0.0/8",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "::/96",
  "fe80::/10",
  "ff00::/8",
  "fd00:ec2::254/128",
];

/** Prefixes of IPv6 addresses with an IPv4 address in the last four bytes: for a translating gateway (RFC 6052, 8215), or mapped (RFC 4291). */
const CARRIES = ["64:ff9b:", "::ffff:"];

/** Prefix of 6to4 addresses, which have the IPv4 address of their gateway in the next four bytes (RFC 3056). */
const SIX_TO_FOUR = /^2002:([0-9a-f]{1,4}):([0-9a-f]{1,4}):/;

/** Allowed hosts and addresses. */
export class Addresses {
  readonly #restricted = blockList(RESTRICTED);
  readonly #allowed: BlockList;
  readonly #hosts: ReadonlySet<string>;

  /** @param allow hosts by name, addresses and networks (`10.0.0.0/8`) @throws Error on another text */
  constructor(allow: readonly string[]) {
    const isAddress = (one: string): boolean => isIP(one.split("/", 1)[0] ?? "") !== 0;
    this.#allowed = blockList(allow.filter(isAddress));
    const names = allow.filter((one) => !isAddress(one)).map((name) => name.toLowerCase());
    const bad = names.find((name) => !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(name));
    if (bad !== undefined)
      throw new Error(
        `allow: invalid value ${JSON.stringify(bad)}: use a host, an address or a network, such as cluster.example, 10.1.2.3 or 10.0.0.0/8`,
      );
    this.#hosts = new Set(names);
  }

  /** Returns whether a host is allowed by name, whatever its address is. */
  hasHost(host: string): boolean {
    return this.#hosts.has(host.toLowerCase());
  }

  /** Returns whether a name or address is allowed explicitly. */
  isAllowed(host: string): boolean {
    return this.hasHost(host) || (isIP(host) !== 0 && this.#allowed.check(host, familyOf(host)));
  }

  /** Returns whether an address may be dialed. @param address as `net.isIP` accepts it; any other text may not */
  mayDial(address: string): boolean {
    const plain = address.split("%", 1)[0] ?? "";
    const family = isIP(plain);
    if (family === 0) return false;
    const forms = [plain, ...carried(plain)];
    if (forms.some((one) => this.#allowed.check(one, familyOf(one)))) return true;
    const lists = [this.#restricted, ownAddresses()];
    return !forms.some((one) => lists.some((list) => list.check(one, familyOf(one))));
  }
}

/** Returns the addresses of this machine's interfaces. Reads them at each connection, since they change. */
function ownAddresses(): BlockList {
  const list = new BlockList();
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((found) => found ?? []))
    list.addAddress(address, family === "IPv6" ? "ipv6" : "ipv4");
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** Returns the IPv4 address in an IPv6 address. */
function carried(address: string): string[] {
  if (isIP(address) !== 6) return [];
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, gatewayHigh, gatewayLow] = SIX_TO_FOUR.exec(text) ?? [];
  if (gatewayHigh !== undefined && gatewayLow !== undefined) return [dotted(gatewayHigh, gatewayLow)];
  const prefix = CARRIES.find((one) => text.startsWith(one));
  if (prefix === undefined) return [];
  const [low = "", high = ""] = text.slice(prefix.length).split(":").reverse();
  return [dotted(high || "0", low || "0")];
}

/** Formats two groups of an IPv6 address as an IPv4 address. */
function dotted(high: string, low: string): string {
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join(".");
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/", 2);
    const longest = isIP(address) === 4 ? 32 : 128;
    const length = bits === undefined ? longest : Number(bits);
    if (!Number.isInteger(length) || length < 0 || length > longest)
      throw new Error(`allow: invalid network ${JSON.stringify(network)}: use a form like 10.0.0.0/8`);
    list.addSubnet(address, length, familyOf(address));
  }
  return list;
}

/** Restrictions that the operator configures. */
interface RefusalOptions {
  readonly addresses: Addresses;
  readonly callerHosts: readonly string[];
}

/**
 * Returns a check of the restrictions for targets of all types. Security: plain HTTP reveals the credential on the network, so only
 * explicitly allowed hosts may use it; only listed hosts receive the caller's own token.
 */
export function refusal({ addresses, callerHosts }: RefusalOptions): (target: ProxyTarget) => NoTarget | undefined {
  const callers = new Set(callerHosts.map((host) => host.toLowerCase()));
  return ({ url, identity }) => {
    const to = new URL(url);
    const host = hostOf(to);
    if (to.protocol !== "https:" && !addresses.isAllowed(host))
      return none(
        "Unknown",
        "Insecure",
        "the target must use https: ask the operator of this server to allow plain HTTP for its host",
      );
    if (isIP(host) !== 0 && !addresses.mayDial(host))
      return none(
        "Unknown",
        "Restricted",
        "its address is restricted for mounts: ask the operator of this server to allow it",
      );
    if (identity === "Caller" && !callers.has(host))
      return none(
        "Unknown",
        "CallerRefused",
        "its host may not receive callers' own tokens: ask the operator of this server to list it",
      );
    return undefined;
  };
}
