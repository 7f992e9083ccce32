import { isIP } from "node:net";
import type { ObservedRequest } from "../observer.ts";

/** Where a request came from, and by which program. */
export interface Origin {
  /** The connection's other end; not every connection has an address. */
  readonly peer: string | undefined;
  readonly forwarded: string | string[] | undefined;
  readonly real: string | string[] | undefined;
  readonly agent: string | undefined;
}

/** To be asked for when the request begins: a connection that has ended does not know, and headers may be written over. */
export function originOf({ req: { headers }, peer }: Pick<ObservedRequest, "req" | "peer">): Origin {
  return {
    peer,
    forwarded: headers["x-forwarded-for"],
    real: headers["x-real-ip"],
    agent: headers["user-agent"],
  };
}

/** The most that are recorded of what a request says of its way. */
const MOST = 16;

/**
 * Where a request came from, as Kubernetes records it: what `X-Forwarded-For` and `X-Real-Ip` say, then the connection's
 * own peer. Whoever asks can write all but the last.
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
  // A header block may be a megabyte of addresses: the last are those that proxies have added.
  const parts = String(header ?? "")
    .slice(-64 * MOST)
    .split(",");
  return parts.map((part) => plain(part.trim())).filter((part) => isIP(part) !== 0);
}

/** An address of the older form as that, also where the socket is of the newer. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
