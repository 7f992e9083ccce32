import { isTransportError, TransportError, type TransportErrorCode } from "@virtual-workspaces/transport";

const OF_TLS =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE))/;

/** What an error of Node's client comes to. @param delivered whether there was a connection, so that the request may have arrived */
export function failureOf(error: unknown, { what, delivered }: { what: string; delivered: boolean }): TransportError {
  if (isTransportError(error)) return error;
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  return new TransportError(codeOf(code, delivered), `${what}: ${message || code}`, { cause: error, delivered });
}

function codeOf(code: string, delivered: boolean): TransportErrorCode {
  if (OF_TLS.test(code)) return "tls";
  if (code === "HPE_HEADER_OVERFLOW") return "tooLarge";
  if (code.startsWith("HPE_") && !code.endsWith("_EOF_STATE")) return "malformed";
  return delivered ? "reset" : "connect";
}
