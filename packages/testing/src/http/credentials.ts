import type { AgentOptions } from "node:https";

/** As whom requests are made, and whom the server must be. Certificates and keys are PEM. */
export interface Credentials {
  /** Bearer token. Over plain HTTP anybody on the way reads it. */
  readonly token?: string;
  readonly clientCert?: string | Buffer;
  readonly clientKey?: string | Buffer;
  /** Authorities that may have signed the server's certificate. @default those of Node */
  readonly ca?: string | Buffer;
  /** The name that the server's certificate must be for. @default the host of the URL */
  readonly serverName?: string;
  /** Takes any server certificate: whoever sits in between reads the token. @default false */
  readonly insecureSkipTlsVerify?: boolean;
}

/** Whether there is anything in them that says who asks. */
export function identifies({ token, clientCert }: Credentials): boolean {
  return token !== undefined || clientCert !== undefined;
}

/** Only what decides which server is trusted. */
export function anonymous({ ca, serverName, insecureSkipTlsVerify }: Credentials): Credentials {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify }),
  };
}

/** What an agent of Node is told of them. */
export function tlsOptions({
  clientCert,
  clientKey,
  ca,
  serverName,
  insecureSkipTlsVerify,
}: Credentials): AgentOptions {
  return {
    ...(clientCert === undefined ? {} : { cert: clientCert }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: insecureSkipTlsVerify !== true,
  };
}
