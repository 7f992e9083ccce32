import { isIP } from "node:net";
import { UsageError } from "../usage.ts";
import type { Flags } from "./flags.ts";

/** Where a server listens (`--bind-address`). @default all of this machine @throws UsageError */
export function addressOf(flags: Flags): string {
  const address = flags.text("bind-address") ?? "0.0.0.0";
  if (isIP(address) !== 0) return address;
  throw new UsageError(`--bind-address ${address}: give an IP address, 0.0.0.0 or :: for all of this machine`);
}
