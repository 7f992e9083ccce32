/** What a client reads of an error that is none of its business: where to look, and nothing else. */
export const UNEXPECTED =
  /^Internal error occurred: request [0-9a-f-]{36} failed: see the server's log for the reason$/;
