import type { ServerOptions } from "node:http";
import type { ServerOptions as Http2Options } from "node:http2";

/**
 * Options of the listener. Go accepts header blocks up to 1 MiB; Node stops at 16 KiB. Security: beyond a thousand lines an
 * older Node silently drops the rest, groups and scopes among them, unless the count is unlimited. Go's clients keep idle
 * connections for 90 s: closing earlier would reset their next request.
 */
export const LISTENER_LIMITS: ServerOptions = {
  maxHeaderSize: 1024 * 1024,
  keepAliveTimeout: 120_000,
  // A watch is a request without end; the pipeline enforces the deadline.
  requestTimeout: 0,
  headersTimeout: 32_000,
  // Interval of that check; Node's default of 30 s would double the timeout.
  connectionsCheckingInterval: 4000,
  // Detects dead peers, as Kubernetes does: a watch may be silent for an hour.
  keepAlive: true,
  keepAliveInitialDelay: 180_000,
  // Small writes are whole events: delaying them gains nothing.
  noDelay: true,
  // The pipeline rejects it with a Status.
  requireHostHeader: false,
};

/**
 * Connections that may wait to be accepted, while the server is busy; the kernel may allow less (`net.core.somaxconn`, 4096 on
 * Linux, which Go uses too). Node's default is 511: when clients reconnect together, the kernel would reset the others.
 */
export const BACKLOG = 4096;

/** Not an option of `createServer`: set it on the server. 0 is no limit: only the size counts. */
export const MAX_HEADERS_COUNT = 0;

/** The same for HTTP/2. Other limits are Node's defaults: floods of resets, pings, settings and bad frames are cut. */
export const HTTP2_LIMITS: Http2Options = {
  settings: {
    maxHeaderListSize: 1024 * 1024,
    // Node's library accepts a header block in at most nine frames; Go's clients use the advertised size.
    maxFrameSize: 256 * 1024,
    // Kubernetes' limit, and the initial one of Go's clients: they open another connection for more watches. A client that
    // requests large lists on all streams and reads none holds 70 MiB here.
    maxConcurrentStreams: 100,
    // Unread bytes of a body, for each stream.
    initialWindowSize: 64 * 1024,
    enablePush: false,
  },
  // Only the size counts: every header takes at least 32 bytes.
  maxHeaderListPairs: 32 * 1024,
  // Otherwise lines with a space at either end are dropped silently. Security: groups and scopes may be among them.
  strictFieldWhitespaceValidation: false,
  // MB of a session before it rejects streams, which clients take for failures: each stream may hold a header block of the
  // largest size, or a piece of a large list.
  maxSessionMemory: 256,
};
