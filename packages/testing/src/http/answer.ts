import type { IncomingHttpHeaders } from "node:http";

/** Request line that users can repeat. Never contains credentials. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
  /** Headers of this request only: `accept`, `if-none-match`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the request was sent without the credentials of the run. */
  readonly anonymous: boolean;
}

/** Complete answer. */
export interface Answer {
  readonly request: RequestLine;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Formats a request as `GET https://…/apis (accept: …) without credentials`. */
export function requestText({ method, url, headers, anonymous }: RequestLine): string {
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${url}${shown.length === 0 ? "" : ` (${shown.join("; ")})`}${anonymous ? " without credentials" : ""}`;
}

/** Returns the media type of an answer in lower case, without parameters, or "" when there is none. */
export function mediaType(answer: Pick<Answer, "headers">): string {
  return (answer.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Error of a missing or partial answer: the connection failed, was cut, or was too slow. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly request: RequestLine;

  constructor(request: RequestLine, cause: unknown) {
    super(`${requestText(request)}: ${reasonOf(cause)}`, { cause });
    this.request = request;
  }

  /** Message without the request. */
  get reason(): string {
    return reasonOf(this.cause);
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
