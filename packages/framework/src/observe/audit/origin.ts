import { isIP } from "node:net";
import type { ObservedRequest } from "../observer.ts";

/** Origin of a request: addresses and user agent. */
export interface Origin {
  /** Remote address; not every connection has one. */
  readonly peer: string | undefined;
  readonly forwarded: string | string[] | undefined;
  readonly real: string | string[] | undefined;
  readonly agent: string | undefined;
}

/** Reads the origin. Call it when the request begins: a closed connection has no address, and headers may be overwritten. */
export function originOf({ req: { headers }, peer }: Pick<ObservedRequest, "req" | "peer">): Origin {
  return {
    peer,
    forwarded: headers["x-forwarded-for"],
    real: headers["x-real-ip"],
    agent: headers["user-agent"],
  };
}

/** Limit of recorded addresses. */
const MOST = 16;

/**
 * Returns the source addresses, as Kubernetes records them: `X-Forwarded-For` and `X-Real-Ip`, then the remote address.
 * Security: the client can forge all but the last.
 */
export function sourceIps({ peer: address, forwarded, real }: Origin): readonly string[] {
  const peer = plain(address ?? "");
  if (forwarded === undefined && real === undefined) return peer === "" ? [] : [peer];
  const told = listed(forwarded);
  const own = listed(real)[0];
  if (own !== undefined && !told.includes(own)) told.push(own);
  const last = told.slice(-MOST);
  if (peer !== "" && last.at(-1) !== peer) last.push(peer);
  return last;
}

function listed(header: string | string[] | undefined): string[] {
  // A header block may hold a megabyte of addresses: proxies add the last ones.
  const parts = String(header ?? "")
    .slice(-64 * MOST)
    .split(",");
  return parts.map((part) => plain(part.trim())).filter((part) => isIP(part) !== 0);
}

/** Returns an IPv4 address in its own form, also for a dual-stack socket. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
