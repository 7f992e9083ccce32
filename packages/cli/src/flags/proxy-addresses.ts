import { BlockList, isIP } from "node:net";
import type { StrangerLimits } from "@virtual-workspaces/framework";
import { UsageError } from "../usage.ts";
import type { Flags } from "./flags.ts";

/**
 * From where failed logins are not counted, since proxies are there that count those of their own clients (`--proxy-addresses`).
 *
 * @returns `undefined` for this machine's own, the default of servers
 * @throws UsageError
 */
export function strangersOf(flags: Flags): StrangerLimits | undefined {
  const trusted = flags.list("proxy-addresses");
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
