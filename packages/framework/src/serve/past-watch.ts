import { type ApiError, isApiError, toApiError } from "@virtual-workspaces/apimachinery";
import { PieceWriter } from "../encode/pieces.ts";
import type { Exchange } from "../exchange.ts";
import type { Past } from "../storage-changes.ts";
import type { CacheEvent } from "../watch/cache/event.ts";
import type { Lane } from "../watch/lane.ts";
import type { Subscriber } from "../watch/subscriber.ts";
import { tooOld } from "./freshness.ts";

/** A watch that asks for more than its cache remembers. */
interface Resuming {
  readonly subscriber: Subscriber;
  readonly lane: Lane;
  readonly past: Past;
}

/**
 * Writes what the storage remembers and the cache does not, some of it at a time, so that a client that does not read costs
 * no more than that. @returns where the cache goes on, or why nothing does
 * @throws what writing throws, when the client has left
 */
export async function writePast(
  exchange: Exchange,
  { subscriber, lane, past }: Resuming,
  version: string,
): Promise<number | ApiError> {
  const { cache } = lane;
  subscriber.hold();
  for (let reached = version; ; ) {
    const told = await past.changes(reached, exchange).catch((error: unknown) => refusal(exchange, error));
    if (told === undefined) return tooOld(version, cache);
    if ("status" in told) return told;
    const writer = new PieceWriter(exchange.res, exchange.core.pieces);
    let refused: ApiError | undefined;
    for (const event of told.events) {
      const pieces = shown(lane, event);
      if ("status" in pieces) refused = pieces;
      if ("status" in pieces || subscriber.ending) break;
      await writer.addAll(pieces);
    }
    await writer.finish();
    if (refused !== undefined) return refused;
    // Where it ends is for the client to say: what it has seen last.
    if (subscriber.ending) return cache.next;
    reached = told.version;
    // A slow reader takes so long that the cache has forgotten again what it knew.
    const position = cache.position(reached);
    if (typeof position === "number") return position;
  }
}

/** What clients see of an event, or why it cannot be shown. */
function shown(lane: Lane, event: CacheEvent): readonly Buffer[] | ApiError {
  try {
    return lane.pieces(event);
  } catch (error) {
    return toApiError(error);
  }
}

/** `undefined`: it is not known any more. */
function refusal(exchange: Exchange, error: unknown): ApiError | undefined {
  if (exchange.signal.aborted) throw error;
  if (isApiError(error)) return error.code === 410 ? undefined : error;
  exchange.log({ level: "error", message: "the past of a watch cannot be read", error: String(error) });
  return toApiError(error);
}
