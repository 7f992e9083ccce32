/** Message of an internal error for clients: it refers to the server's log, and reveals nothing else. */
export const UNEXPECTED =
  /^Internal error occurred: request [0-9a-f-]{36} failed: see the server's log for the reason$/;
