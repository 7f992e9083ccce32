import { type RequestLine, requestText } from "./answer.ts";

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
