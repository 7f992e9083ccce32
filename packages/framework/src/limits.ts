import type { ServerOptions } from "node:http";

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
  // Small writes are whole events: waiting for more only delays them.
  noDelay: true,
  // Refused by the pipeline, with a Status.
  requireHostHeader: false,
};

/** Not among the options of `createServer`: to be set on the server. 0 is no limit: the size alone counts. */
export const MAX_HEADERS_COUNT = 0;
