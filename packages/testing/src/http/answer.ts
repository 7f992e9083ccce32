import type { IncomingHttpHeaders } from "node:http";

/** A request as it went out, for people to repeat. Never holds credentials. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
  /** Only what was set for this request: `accept`, `if-none-match`. */
  readonly headers: Readonly<Record<string, string>>;
  /** True when it was made without the credentials of the run. */
  readonly anonymous: boolean;
}

/** A whole answer. */
export interface Answer {
  readonly request: RequestLine;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** `GET https://…/apis (accept: …) without credentials`. */
export function requestText({ method, url, headers, anonymous }: RequestLine): string {
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${url}${shown.length === 0 ? "" : ` (${shown.join("; ")})`}${anonymous ? " without credentials" : ""}`;
}

/** The media type of an answer in lower case, without parameters; "" when it names none. */
export function mediaType(answer: Pick<Answer, "headers">): string {
  return (answer.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** No answer, or half of one: the connection failed, was cut, or took too long. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly request: RequestLine;

  constructor(request: RequestLine, cause: unknown) {
    super(`${requestText(request)}: ${reasonOf(cause)}`, { cause });
    this.request = request;
  }

  /** Without the request. */
  get reason(): string {
    return reasonOf(this.cause);
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
