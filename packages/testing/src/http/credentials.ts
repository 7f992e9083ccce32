import type { AgentOptions } from "node:https";

/** Identity of the client, and how to verify the server. Certificates and keys are PEM. */
export interface Credentials {
  /** Bearer token. Security: over plain HTTP, everyone on the network path can read it. */
  readonly token?: string;
  readonly clientCert?: string | Buffer;
  readonly clientKey?: string | Buffer;
  /** Certificate authorities to verify the server's certificate. @default those of Node */
  readonly ca?: string | Buffer;
  /** Host name that the server's certificate must have. @default the host of the URL */
  readonly serverName?: string;
  /** Skips the verification of the server's certificate. Security: a man in the middle can read the token. @default false */
  readonly insecureSkipTlsVerify?: boolean;
}

/** Returns whether the credentials identify a user. */
export function identifies({ token, clientCert }: Credentials): boolean {
  return token !== undefined || clientCert !== undefined;
}

/** Keeps only the options that verify the server. */
export function anonymous({ ca, serverName, insecureSkipTlsVerify }: Credentials): Credentials {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify }),
  };
}

/** Returns the options of a Node agent for these credentials. */
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
    // As in Go, each of these certificates is trusted by itself, also a server's own.
    allowPartialTrustChain: true,
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: insecureSkipTlsVerify !== true,
  };
}
