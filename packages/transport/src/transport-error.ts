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
