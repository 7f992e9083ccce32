import { TransportError, type TransportErrorCode } from "./transport-error.ts";

/** What is known of a request that failed. */
export interface FailedRequest {
  /** `GET https://host/path`, without the query. */
  readonly what: string;
  /** Whether a connection had begun to write it. */
  readonly delivered: boolean;
}

/** What an error of undici, or of Node below it, comes to. */
export function failureOf(error: unknown, { what, delivered }: FailedRequest): TransportError {
  const { code = "", message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  return new TransportError(codeOf(code, delivered), `${what}: ${message}`, { cause: error, delivered });
}

const CODES: Readonly<Record<string, TransportErrorCode>> = {
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  UND_ERR_HEADERS_OVERFLOW: "tooLarge",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "tooLarge",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "malformed",
  UND_ERR_CLOSED: "closed",
  UND_ERR_DESTROYED: "closed",
};

function codeOf(code: string, delivered: boolean): TransportErrorCode {
  const known = CODES[code];
  if (known !== undefined) return known;
  if (code.startsWith("HPE_")) return "malformed";
  if (delivered) return "reset";
  return isOfTls(code) ? "tls" : "connect";
}

function isOfTls(code: string): boolean {
  return /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/.test(code);
}
