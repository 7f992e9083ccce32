import type { TransportError } from "./transport-error.ts";

/** Why a server is unreachable: {@link connectionProblem}. */
export interface ConnectionProblem {
  /**
   * The host name is unknown (`unresolved`), nothing listens (`refused`), the certificate has expired (`expired`), has other
   * names (`names`) or an unknown authority (`untrusted`), or the host does not answer in time (`silent`).
   */
  readonly kind: "unresolved" | "refused" | "expired" | "names" | "untrusted" | "silent";
  /** Sentence for a person, without a remedy: "connection refused by 127.0.0.1:6443". */
  readonly text: string;
}

/** Returns the problem of a connection to the server of a URL, or `undefined` for a failure after the connection was ready. */
export function connectionProblem(
  { code, message, cause }: TransportError,
  url: string,
): ConnectionProblem | undefined {
  const { code: why = "", message: said = message } = (cause ?? {}) as {
    readonly code?: string;
    readonly message?: string;
  };
  const { host } = new URL(url);
  if (why === "ENOTFOUND" || why === "EAI_AGAIN")
    return { kind: "unresolved", text: `cannot resolve the host name ${host}` };
  if (why === "ECONNREFUSED") return { kind: "refused", text: `connection refused by ${host}` };
  if (why === "CERT_HAS_EXPIRED") return { kind: "expired", text: "the server's certificate has expired" };
  if (why === "ERR_TLS_CERT_ALTNAME_INVALID")
    return { kind: "names", text: `the server's certificate has other names: ${said}` };
  if (code === "tls") return { kind: "untrusted", text: `the server's certificate is not trusted: ${said}` };
  if (code === "timeout") return { kind: "silent", text: `${host} does not answer in time` };
  return undefined;
}
