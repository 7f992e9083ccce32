/**
 * A certificate and its private key: PEM, or PEM files, which are reloaded when they change, and which win if both are set.
 * Intermediate certificates follow it in the same text.
 */
export type TlsCertificate =
  | { readonly cert: string | Buffer; readonly key: string | Buffer }
  | { readonly certFile: string; readonly keyFile: string };

/** A certificate for clients that request a server of this name (Kubernetes' `--tls-sni-cert-key`). */
export type SniCertificate = TlsCertificate & {
  /** Names such as `api.example.com`, or `*.example.com` for any first label. @default those in the certificate */
  readonly names?: readonly string[];
};

/**
 * TLS options of a server: 1.2 or newer, with forward secrecy. HTTP/2 is offered until `Server.app` is used.
 *
 * Files are reloaded within a second of a change, by rename, write or a Kubernetes Secret mount, and polled once a minute.
 * New connections get the new contents, open ones stay unchanged. A broken or incomplete pair changes nothing and is logged
 * as a warning.
 */
export type TlsOptions = TlsCertificate & {
  /**
   * Certificates by server name: explicit names before those in certificates, exact ones before `*.`, the first of two.
   * @default none, all clients get the same
   */
  readonly sni?: readonly SniCertificate[];
  /**
   * PEM of client authorities besides those of the authenticators: their certificates pass the handshake, and then an
   * authenticator must accept them. An authority that is not self-signed needs a self-signed one above it, here or elsewhere.
   * @default none
   */
  readonly clientCa?: string | Buffer;
  /** File with the same, reloaded when it changes. @default none */
  readonly clientCaFile?: string;
};
