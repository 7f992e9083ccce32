import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { EventDetails, EventType } from "../watch/cache/cache-event.ts";
import { cborDocument, cborEventHead } from "./cbor.ts";

type AnyEvent = EventType | "BOOKMARK" | "ERROR";

/** How a watch frames its events. */
export interface EventFormat {
  /** Content type of the stream. */
  readonly contentType: string;
  /** Whether events are text, so that a WebSocket sends them in text messages. */
  readonly isText: boolean;
  /**
   * Returns an event around the bytes of its object, in pieces to be joined.
   *
   * @param details further members of the event
   */
  pieces(type: AnyEvent, object: Buffer, details?: EventDetails): readonly Buffer[];
  /** Returns the last event of a watch that cannot be continued. */
  error(error: ApiError): Buffer;
}

/** A line of JSON for each event. */
export const JSON_EVENTS: EventFormat = formatOf({
  contentType: "application/json",
  isText: true,
  opening: (type, details) => Buffer.from(`{"type":"${type}",${membersText(details)}"object":`),
  document: (json) => json,
  closing: [Buffer.from("}\n")],
});

/** A CBOR sequence (RFC 8742). */
export const CBOR_EVENTS: EventFormat = formatOf({
  contentType: "application/cbor-seq",
  isText: false,
  opening: cborEventHead,
  document: cborDocument,
  closing: [],
});

interface Framing {
  readonly contentType: string;
  readonly isText: boolean;
  readonly opening: (type: AnyEvent, details: EventDetails) => Buffer;
  readonly document: (json: Buffer) => Buffer;
  readonly closing: readonly Buffer[];
}

/** Returns members of an object as JSON, each with a comma behind it. */
function membersText(details: EventDetails): string {
  const members = Object.entries(details).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`);
  return members.join("");
}

function formatOf({ contentType, isText, opening, document, closing }: Framing): EventFormat {
  const openings: Readonly<Record<AnyEvent, Buffer>> = {
    ADDED: opening("ADDED", {}),
    MODIFIED: opening("MODIFIED", {}),
    DELETED: opening("DELETED", {}),
    BOOKMARK: opening("BOOKMARK", {}),
    ERROR: opening("ERROR", {}),
  };
  const pieces: EventFormat["pieces"] = (type, object, details) => [
    details === undefined ? openings[type] : opening(type, details),
    object,
    ...closing,
  ];
  return {
    contentType,
    isText,
    pieces,
    error: ({ status }) => Buffer.concat(pieces("ERROR", document(Buffer.from(JSON.stringify(status))))),
  };
}
