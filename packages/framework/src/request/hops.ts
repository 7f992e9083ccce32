import { ApiError } from "@virtual-workspaces/apimachinery";

/** The header that counts the API servers which have passed a request on (kcp's `hops.HeaderName`). */
export const HOPS_HEADER = "X-Kcp-Virtual-Resource-Hops";
/** A request that so many API servers have passed on is not answered any more (kcp's `hops.Max`). */
export const MOST_HOPS = 4;

const NAME: string = HOPS_HEADER.toLowerCase();

/**
 * Through how many API servers a request says that it has come. What is no number, or comes twice, counts as too many: a
 * loop that spoils the header must end as well.
 */
export function hopsOf(headers: NodeJS.Dict<string | string[]>): number {
  const text = headers[NAME];
  if (text === undefined) return 0;
  if (typeof text !== "string" || !/^\d+$/.test(text)) return MOST_HOPS;
  return Math.min(Number(text), MOST_HOPS);
}

/** How much of a chain is told on, characters: the last of it, which is where a loop shows. */
const LONGEST_CHAIN = 1024;

/**
 * The chain with one server more at its end, as a `Via` header says it (RFC 9110): `1.1 quotes, 1.1 archive`.
 *
 * @param came the header of the request
 */
export function viaOf(came: string | undefined, name: string): string {
  const own = `1.1 ${name}`;
  if (came === undefined || came === "") return own;
  const chain = `${came}, ${own}`;
  if (chain.length <= LONGEST_CHAIN) return chain;
  const rest = chain.slice(-LONGEST_CHAIN);
  return rest.slice(rest.indexOf(", ") + 2);
}

/** A request has gone in a circle, or nearly. The message goes to whoever sent it, and holds what they said. */
export function tooManyHops(via: string): ApiError {
  const names = via.split(",").map((entry) => entry.trim().split(/\s+/)[1] ?? "?");
  const chain = names.map((name) => name.replace(/[^\x21-\x7e]/g, "?")).join(" -> ");
  return ApiError.internalError(
    `the request was passed on by ${MOST_HOPS} API servers or more (${HOPS_HEADER}): ${chain}. ` +
      "One of them very likely leads back to another: check the URL that each forwards to",
  );
}
