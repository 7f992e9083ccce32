import { type RequestLine, requestText } from "../http/answer.ts";

/** What a check found wrong. */
export interface FailureDetails {
  /** As it went out, credentials left out: `GET https://…?watch=true (accept: …)`. */
  readonly request: string;
  readonly expected: string;
  readonly actual: string;
}

/** Thrown by a check: the server is wrong. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(`${details.request}: expected ${details.expected}, got ${details.actual}`);
    this.details = details;
  }
}

/** Thrown by a check: there is nothing to say about the server here. */
export class CheckSkipped extends Error {
  override readonly name = "CheckSkipped";
}

/** Ends a check: the answer to `request` is not what it must be. */
export function fail(request: RequestLine, expected: string, actual: string): never {
  throw new CheckFailure({ request: requestText(request), expected, actual });
}

/** Ends a check without a verdict. */
export function skip(reason: string): never {
  throw new CheckSkipped(reason);
}
