import { BlockList, isIP } from "node:net";
import type { NoTarget, ProxyTarget } from "@virtual-workspaces/kcp/targets";
import { hostOf } from "@virtual-workspaces/transport";
import { none } from "../types/no-target.ts";

/**
 * Where nobody is asked on behalf of strangers: this machine (whatever listens there trusts who comes from it), its links, and the
 * addresses where clouds give instances their credentials (AWS, GCP, Azure, Alibaba, Oracle). RFC 6890, 4291, 3927; vendors' manuals.
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

/** IPv6 that carries IPv4 in its last four bytes, behind a gateway that translates (RFC 6052), or none (RFC 4291). */
const CARRIES = ["64:ff9b::", "::ffff:"];

/** Which hosts and addresses may be asked. */
export class Addresses {
  readonly #restricted = blockList(RESTRICTED);
  readonly #allowed: BlockList;
  readonly #hosts: ReadonlySet<string>;

  /** @param allow hosts by name, addresses and networks (`10.0.0.0/8`) @throws Error on what is none of them */
  constructor(allow: readonly string[]) {
    const isAddress = (one: string): boolean => isIP(one.split("/", 1)[0] ?? "") !== 0;
    this.#allowed = blockList(allow.filter(isAddress));
    const names = allow.filter((one) => !isAddress(one)).map((name) => name.toLowerCase());
    const bad = names.find((name) => !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(name));
    if (bad !== undefined)
      throw new Error(
        `allow: ${JSON.stringify(bad)} is no host, address or network: write cluster.example, 10.1.2.3 or 10.0.0.0/8`,
      );
    this.#hosts = new Set(names);
  }

  /** Whether a host is allowed by its name, wherever that leads. */
  hasHost(host: string): boolean {
    return this.#hosts.has(host.toLowerCase());
  }

  /** Whether a host, a name or an address, was allowed in so many words. */
  isAllowed(host: string): boolean {
    return this.hasHost(host) || (isIP(host) !== 0 && this.#allowed.check(host, familyOf(host)));
  }

  /** Whether an address may be dialled. @param address as `net.isIP` knows it; anything else may not */
  mayDial(address: string): boolean {
    const plain = address.split("%", 1)[0] ?? "";
    const family = isIP(plain);
    if (family === 0) return false;
    const forms = [plain, ...carried(plain)];
    if (forms.some((one) => this.#allowed.check(one, familyOf(one)))) return true;
    return !forms.some((one) => this.#restricted.check(one, familyOf(one)));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** The IPv4 address in an IPv6 one. */
function carried(address: string): string[] {
  if (isIP(address) !== 6) return [];
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const prefix = CARRIES.find((one) => text.startsWith(one));
  if (prefix === undefined) return [];
  const [low = "0", high = "0"] = text.slice(prefix.length).split(":").reverse();
  const [upper, lower] = [Number.parseInt(high || "0", 16), Number.parseInt(low || "0", 16)];
  return [[upper >> 8, upper & 255, lower >> 8, lower & 255].join(".")];
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/", 2);
    const longest = isIP(address) === 4 ? 32 : 128;
    const length = bits === undefined ? longest : Number(bits);
    if (!Number.isInteger(length) || length < 0 || length > longest)
      throw new Error(`allow: ${JSON.stringify(network)} is no network: write 10.0.0.0/8`);
    list.addSubnet(address, length, familyOf(address));
  }
  return list;
}

/** What whoever runs the view has said. */
interface RefusalOptions {
  readonly addresses: Addresses;
  readonly callerHosts: readonly string[];
}

/**
 * Says what no mount may lead to, whichever type it is of: by plain http, where anybody on the way reads the credential, only hosts
 * that are allowed by name or address; with the callers' own tokens only those that are listed for it.
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
        "the target must be asked by https: http is for hosts that whoever runs this server allows",
      );
    if (isIP(host) !== 0 && !addresses.mayDial(host))
      return none(
        "Unknown",
        "Restricted",
        "its address is one that mounts may not lead to, unless whoever runs this server allows it",
      );
    if (identity === "Caller" && !callers.has(host))
      return none(
        "Unknown",
        "CallerRefused",
        "callers' own tokens are sent to no host but those that whoever runs this server lists",
      );
    return undefined;
  };
}
