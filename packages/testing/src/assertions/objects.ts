import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { INITIAL_EVENTS_END } from "@virtual-workspaces/apimachinery/requests";
import type { Answer } from "../http/answer.ts";
import { NothingCame, StreamCut, type WatchLine, type WatchStream } from "../http/watch-stream.ts";
import { expectOk, fail } from "./expect.ts";
import { at, isObject, type JsonObject, listAt, textAt } from "./json.ts";

/** List document whose items all have names. */
export interface List {
  readonly answer: Answer;
  readonly document: JsonObject;
  readonly resourceVersion: string;
  /** Continue token, "" on the last page. */
  readonly continue: string;
  readonly items: readonly KubeObject[];
}

/** @throws CheckFailure when the answer is not a list */
export function readList(answer: Answer): List {
  const document = expectOk(answer);
  const items = at(document, "items");
  // Go encodes a nil slice as null.
  if (items !== null && !Array.isArray(items))
    fail(answer.request, "a list with items", JSON.stringify(document).slice(0, 300));
  for (const item of items ?? []) {
    if (textAt(item, "metadata", "name") === "")
      fail(answer.request, "items with a metadata.name", JSON.stringify(item).slice(0, 300));
  }
  return {
    answer,
    document,
    resourceVersion: textAt(document, "metadata", "resourceVersion"),
    continue: textAt(document, "metadata", "continue"),
    items: (items ?? []) as readonly KubeObject[],
  };
}

/** Returns `namespace/name`, the key of an object within a logical cluster. */
export function plainKeyOf(object: unknown): string {
  return `${textAt(object, "metadata", "namespace")}/${textAt(object, "metadata", "name")}`;
}

/** Returns the key of an object of a resource, unique in lists over all logical clusters too. */
export function keyOf(object: unknown): string {
  const cluster = textAt(object, "metadata", "annotations", "kcp.io/cluster");
  return cluster === "" ? plainKeyOf(object) : `${cluster}|${plainKeyOf(object)}`;
}

export function versionOf(object: unknown): string {
  return textAt(object, "metadata", "resourceVersion");
}

/** Returns the names of objects, sorted. */
export function namesOf(objects: readonly unknown[]): readonly string[] {
  return objects.map((object) => textAt(object, "metadata", "name")).sort();
}

/** Returns each object's version by its key, sorted, so that two answers about the same objects can be compared. */
export function versionsByKey(objects: Iterable<unknown>): Readonly<Record<string, string>> {
  const entries = Array.from(objects, (object) => [keyOf(object), versionOf(object)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface ReadUntil {
  /** Deadline in milliseconds from the call, whatever the server does. */
  readonly within: number;
  /** Returns whether to stop after `event`, the last of `seen`. @default never */
  readonly done?: (event: WatchLine, seen: readonly WatchLine[]) => boolean;
}

export interface ReadEvents {
  readonly seen: readonly WatchLine[];
  /** Why reading stopped: `done` said so, the server ended the stream, the connection was cut, or the deadline passed. */
  readonly end: "done" | "ended" | "cut" | "late";
}

/** Reads events as they arrive. @throws TransportError on a line that is not an event */
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

/** Counts events by type for people: `2 ADDED, 1 BOOKMARK`. */
export function eventCounts(seen: readonly WatchLine[]): string {
  const counts = Map.groupBy(seen, ({ type }) => type);
  return counts.size === 0 ? "no events" : Array.from(counts, ([type, { length }]) => `${length} ${type}`).join(", ");
}

/** Returns the object of an event in any representation. For a Table it is the object of the row. */
export function eventObject({ object }: WatchLine): JsonObject {
  if (object["kind"] !== "Table") return object;
  const row = listAt(object, "rows")[0];
  const within = at(row, "object");
  return isObject(within) ? within : object;
}

/** Returns whether an event is the bookmark that ends the initial events. */
export function endsInitialEvents(event: WatchLine): boolean {
  return event.type === "BOOKMARK" && at(eventObject(event), "metadata", "annotations", INITIAL_EVENTS_END) === "true";
}

/** Applies events in order and returns the resulting objects by key. */
export function applyEvents(events: Iterable<WatchLine>): Map<string, JsonObject> {
  const state = new Map<string, JsonObject>();
  for (const event of events) {
    const object = eventObject(event);
    if (event.type === "ADDED" || event.type === "MODIFIED") state.set(keyOf(object), object);
    if (event.type === "DELETED") state.delete(keyOf(object));
  }
  return state;
}
