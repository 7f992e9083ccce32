import type { Duplex } from "node:stream";

/** How the other server is trusted. Its certificate is always verified, unless that is switched off by name. */
export interface UpstreamTls {
  /** PEM of the authorities that its certificate must come from, and no others. @default those that Node trusts */
  readonly ca?: string;
  /** The name that its certificate must be for, and that is asked for (SNI). @default the URL's host */
  readonly serverName?: string;
  /** Takes any certificate: whoever is between us can read and change everything, credentials too. @default false */
  readonly insecureSkipVerify?: boolean;
}

/**
 * Makes connections otherwise than by TCP: tunnels plug in here. TLS, if the URL asks for it, is spoken through them, and
 * verified as ever. The signal is aborted when the connection is no longer wanted: at the connect deadline, when the request
 * that it is for ends, and when the upstream is closed. What is given later is destroyed.
 */
export type Dial = (
  target: { readonly host: string; readonly port: number },
  options: { readonly signal: AbortSignal },
) => Promise<Duplex>;
