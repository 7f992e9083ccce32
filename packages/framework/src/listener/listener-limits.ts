import type { ServerOptions } from "node:http";
import type { ServerOptions as Http2Options } from "node:http2";

/**
 * What the listener must be told. Go carries header blocks up to 1 MiB; Node stops at 16 KiB, and beyond a thousand
 * lines an older one drops the rest silently, groups and scopes among them, unless the count is unlimited.
 * Go's clients keep idle connections for 90 s: closing sooner meets their next request with a reset.
 */
export const LISTENER_LIMITS: ServerOptions = {
  maxHeaderSize: 1024 * 1024,
  keepAliveTimeout: 120_000,
  // A watch is a request that never ends; the deadline is the pipeline's.
  requestTimeout: 0,
  headersTimeout: 32_000,
  // How often that is looked at; Node's own 30 s would double it.
  connectionsCheckingInterval: 4000,
  // A peer that is gone without a word is found out, as by Kubernetes: a watch need not write for an hour.
  keepAlive: true,
  keepAliveInitialDelay: 180_000,
  // Small writes are whole events: waiting for more only delays them.
  noDelay: true,
  // Refused by the pipeline, with a Status.
  requireHostHeader: false,
};

/** Not among the options of `createServer`: to be set on the server. 0 is no limit: the size alone counts. */
export const MAX_HEADERS_COUNT = 0;

/** The same for HTTP/2. What is not here is as Node has it: floods of resets, pings, settings and bad frames are cut. */
export const HTTP2_LIMITS: Http2Options = {
  settings: {
    maxHeaderListSize: 1024 * 1024,
    // Node's library takes a header block in nine frames at most; Go's clients use the size that they are told.
    maxFrameSize: 256 * 1024,
    // As many as Kubernetes allows, and as Go's clients begin with: for more watches they open another connection. One
    // that asks for large lists on all of them and reads none keeps 70 MiB here.
    maxConcurrentStreams: 100,
    // Bytes of a body that nobody reads yet, for each stream.
    initialWindowSize: 64 * 1024,
    enablePush: false,
  },
  // Only the size counts: no header is smaller than 32 bytes there.
  maxHeaderListPairs: 32 * 1024,
  // Else lines with a space at either end are left out without a word, groups and scopes among them.
  strictFieldWhitespaceValidation: false,
  // MB of a session before it refuses streams, which clients take for failures: all streams of one may have a header
  // block of the largest size, or a piece of a large list on its way.
  maxSessionMemory: 256,
};
