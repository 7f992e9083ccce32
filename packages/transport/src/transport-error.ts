const BRAND = Symbol.for("@virtual-workspaces/transport/TransportError");

/**
 * What went wrong between us and the other server: no connection (`connect`), its certificate is not to be trusted (`tls`),
 * nothing came in time (`timeout`), the connection ended early (`reset`), what came is no HTTP or contradicts itself
 * (`malformed`), it is longer than allowed (`tooLarge`), or our side was closed (`closed`).
 */
export type TransportErrorCode = "connect" | "tls" | "timeout" | "reset" | "malformed" | "tooLarge" | "closed";

/**
 * No answer, or no whole one. Recognise one with {@link isTransportError}, not `instanceof`: two copies of this package may
 * be loaded. The message names the server's origin and the path, never a query, a header or a body.
 */
export class TransportError extends Error {
  override readonly name: string = "TransportError";
  readonly code: TransportErrorCode;
  /** Whether the other server may have got the request: then only what is idempotent can be sent again. */
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

/** Whether a thrown value is a {@link TransportError}, whichever copy of this package made it. */
export function isTransportError(error: unknown): error is TransportError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** What is known of a request that failed. */
interface FailedRequest {
  /** `GET https://host/path`, without the query. */
  readonly what: string;
  /** Whether a connection had begun to write it, at this try or an earlier one. */
  readonly delivered: boolean;
  /** Whether one had at this try. */
  readonly written: boolean;
  /** Whether a head of an answer had come. */
  readonly answered?: boolean;
}

/** What an error of undici, or of Node below it, comes to. */
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

/** No connection in time. */
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
  // A client certificate is refused only after the first request was sent (TLS 1.3).
  if (OF_TLS.test(code)) return "tls";
  // A body that is shorter than announced; before a body, two lengths that differ.
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return answered ? "reset" : "malformed";
  // An end in the middle is no fault of form.
  if (name === "HTTPParserError") return text.includes("EOF") ? "reset" : "malformed";
  // What undici says of an answer to nothing, and of a change of protocol that nobody asked for.
  if (code === "UND_ERR_SOCKET" && text.startsWith("bad ")) return "malformed";
  return written ? "reset" : "connect";
}

const OF_TLS =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH)/;

/** Node says nothing itself when it tried several addresses. */
function attempts(error: unknown): string {
  if (!(error instanceof AggregateError)) return String(error);
  return error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join("; ");
}
