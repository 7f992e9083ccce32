const BRAND = Symbol.for("@virtual-workspaces/transport/TransportError");

/**
 * Kind of failure: no connection (`connect`), untrusted certificate (`tls`), timeout (`timeout`), connection ended early
 * (`reset`), invalid HTTP (`malformed`), response over the limit (`tooLarge`), or upstream closed by this process (`closed`).
 */
export type TransportErrorCode = "connect" | "tls" | "timeout" | "reset" | "malformed" | "tooLarge" | "closed";

/**
 * Failure without a complete response. Recognize one with {@link isTransportError}, not `instanceof`: two copies of this
 * package may be loaded. Security: the message names the server's origin and the path, never a query, a header or a body.
 */
export class TransportError extends Error {
  override readonly name: string = "TransportError";
  readonly code: TransportErrorCode;
  /** Whether the upstream may have received the request: then only idempotent requests can be retried. */
  readonly delivered: boolean;

  static {
    Object.defineProperty(TransportError.prototype, BRAND, { value: true });
  }

  constructor(code: TransportErrorCode, message: string, options: ErrorOptions & { readonly delivered: boolean }) {
    super(message, options);
    this.code = code;
    this.delivered = options.delivered;
  }
}

/** Whether a thrown value is a {@link TransportError}, from any copy of this package. */
export function isTransportError(error: unknown): error is TransportError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** State of a request that failed. */
interface FailedRequest {
  /** `GET https://host/path`, without the query. */
  readonly what: string;
  /** Whether a connection had begun to write the request, in this or an earlier attempt. */
  readonly delivered: boolean;
  /** Whether this attempt had begun to write it. */
  readonly written: boolean;
  /** Whether the head of a response had arrived. */
  readonly answered?: boolean;
}

/** Converts an error of undici, or of Node below it. */
export function failureOf(error: unknown, request: FailedRequest): TransportError {
  if (error instanceof TransportError) return error;
  const { what, delivered, written, answered = false } = request;
  const { code = "", message, name = "" } = (error ?? {}) as Partial<Error> & { readonly code?: string };
  const text = code === "UND_ERR_DESTROYED" ? "the connection was closed" : message || attempts(error);
  return new TransportError(codeOf({ code, name, text, written, answered }), `${what}: ${text}`, {
    cause: error,
    delivered,
  });
}

/** Failure to connect within the deadline. */
export class ConnectDeadline extends Error {
  readonly code = "UND_ERR_CONNECT_TIMEOUT";
}

const CODES: Readonly<Record<string, TransportErrorCode>> = {
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_OVERFLOW: "tooLarge",
};

interface Known {
  readonly code: string;
  readonly name: string;
  readonly text: string;
  readonly written: boolean;
  readonly answered: boolean;
}

function codeOf({ code, name, text, written, answered }: Known): TransportErrorCode {
  const known = CODES[code];
  if (known !== undefined) return known;
  // Servers reject a client certificate only after the first request was sent (TLS 1.3).
  if (OF_TLS.test(code)) return "tls";
  // A body shorter than announced; before a body, two contradictory lengths.
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return answered ? "reset" : "malformed";
  // An early end is no syntax error.
  if (name === "HTTPParserError") return text.includes("EOF") ? "reset" : "malformed";
  // Undici's errors for a response without a request, and for an unexpected protocol upgrade.
  if (code === "UND_ERR_SOCKET" && text.startsWith("bad ")) return "malformed";
  return written ? "reset" : "connect";
}

const OF_TLS =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH)/;

/** Node's own message is empty if it tried several addresses. */
function attempts(error: unknown): string {
  if (!(error instanceof AggregateError)) return String(error);
  return error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join("; ");
}
