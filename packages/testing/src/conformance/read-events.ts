import { NothingCame, StreamCut, type WatchLine, type WatchStream } from "../http/watch-stream.ts";

export interface ReadUntil {
  /** Milliseconds from the call on: nothing that a server does makes it take longer. */
  readonly within: number;
  /** Whether to stop after `event`, the last of `seen`. @default never */
  readonly done?: (event: WatchLine, seen: readonly WatchLine[]) => boolean;
}

export interface ReadEvents {
  readonly seen: readonly WatchLine[];
  /** Why no more was read: what was wanted came, the server ended the stream, it was cut, or the time was up. */
  readonly end: "done" | "ended" | "cut" | "late";
}

/** Reads events as they come. @throws TransportError on a line that is no event */
export async function readEvents(stream: WatchStream, { within, done }: ReadUntil): Promise<ReadEvents> {
  const seen: WatchLine[] = [];
  const deadline = performance.now() + within;
  for (;;) {
    const left = deadline - performance.now();
    const event = await stream.next(left).catch(endOf);
    if (event === undefined) return { seen, end: "ended" };
    if (typeof event === "string") return { seen, end: event };
    seen.push(event);
    if (done?.(event, seen) === true) return { seen, end: "done" };
    // A stream that never pauses never lets a timer win.
    if (left <= 0) return { seen, end: "late" };
  }
}

function endOf(error: unknown): "late" | "cut" {
  if (error instanceof NothingCame) return "late";
  if (error instanceof StreamCut) return "cut";
  throw error;
}

/** What came, for people: `2 ADDED, 1 BOOKMARK`. */
export function eventCounts(seen: readonly WatchLine[]): string {
  const counts = Map.groupBy(seen, ({ type }) => type);
  return counts.size === 0 ? "no events" : Array.from(counts, ([type, { length }]) => `${length} ${type}`).join(", ");
}
