import type { Encoded } from "../watch/cache/encoded.ts";
import type { EventType } from "../watch/cache/event.ts";

/** How an object, a list or an event is written for a client: plain JSON, Table, PartialObjectMetadata. */
export interface Representation {
  /** Equal text, equal bytes for the same object of the same kind. */
  readonly key: string;
  /** Of bodies. Streams have the same. */
  readonly contentType: string;
  /** True when {@link item} is the object's own bytes, so that nothing is worth remembering. */
  readonly verbatim: boolean;
  /** One object by itself, as a GET answers it and as an event carries it. */
  object(encoded: Encoded): Buffer;
  /** One object within a list. */
  item(encoded: Encoded): Buffer;
  /** What stands before and after the items of a list, which are joined by commas. */
  list(meta: ListMetadata): { readonly head: Buffer; readonly tail: Buffer };
  /** The object of a BOOKMARK event. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer;
}

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

const OPENING: Readonly<Record<EventType | "BOOKMARK" | "ERROR", Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  ERROR: Buffer.from('{"type":"ERROR","object":'),
};
const CLOSING = Buffer.from("}\n");

/** One event of a watch as its line of JSON, in pieces to be joined. */
export function eventPieces(type: EventType | "BOOKMARK" | "ERROR", object: Buffer): readonly Buffer[] {
  return [OPENING[type], object, CLOSING];
}

export function eventBytes(type: EventType | "BOOKMARK" | "ERROR", object: Buffer): Buffer {
  return Buffer.concat(eventPieces(type, object));
}
