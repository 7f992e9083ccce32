import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { SpaceEvent } from "../document/bodies.ts";
import { MEDIA } from "../protocol.ts";
import { answerTo } from "./failure.ts";
import type { Hints } from "./hints.ts";

/** How a watch is answered. */
export interface WatchOptions {
  readonly hints: Hints;
  /** How long it says nothing, ms. */
  readonly heartbeat: number;
  /** Aborts when it is to end. */
  readonly ending: AbortSignal;
  readonly onError: (error: unknown) => void;
}

const BOOKMARK: SpaceEvent = { type: "BOOKMARK" };
/** How long a client may leave unread what has been written, ms. */
const UNREAD = 60_000;

/** Says what changes, as long as it is read, until one side ends it. */
export async function answerWatch(res: ServerResponse, options: WatchOptions): Promise<void> {
  const { ending } = options;
  res.writeHead(200, { "Content-Type": MEDIA.events, "Cache-Control": "no-cache, private" });
  for (let events: readonly SpaceEvent[] = [BOOKMARK]; events.length > 0; ) {
    const isRead = await write(res, events, ending);
    if (!isRead) return void res.destroy();
    const isLast = ending.aborted || events.at(-1)?.type === "ERROR";
    events = isLast ? [] : await more(options);
  }
  res.end();
}

/** What there is to say next; nothing: that was all. */
async function more({ hints, heartbeat, ending, onError }: WatchOptions): Promise<readonly SpaceEvent[]> {
  try {
    const news = await hints.next(heartbeat, ending);
    return news?.length === 0 && !ending.aborted ? [BOOKMARK] : (news ?? []);
  } catch (error) {
    // What is ended says so as it likes.
    if (ending.aborted) return [];
    onError(error);
    return [{ type: "ERROR", status: answerTo(error).status }];
  }
}

/** At the pace of whoever reads. @returns false: they do not */
async function write(res: ServerResponse, events: readonly SpaceEvent[], ending: AbortSignal): Promise<boolean> {
  if (res.write(events.map((event) => `${JSON.stringify(event)}\n`).join(""))) return true;
  const late = AbortSignal.timeout(UNREAD);
  await once(res, "drain", { signal: AbortSignal.any([ending, late]) }).catch(() => undefined);
  return !late.aborted;
}
