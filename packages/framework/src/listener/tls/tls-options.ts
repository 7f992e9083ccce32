/**
 * A certificate and its private key: PEM, or files with PEM, which are read again when they change. The certificates
 * between it and its authority stand behind it in the same text.
 */
export type TlsCertificate =
  | { readonly cert: string | Buffer; readonly key: string | Buffer }
  | { readonly certFile: string; readonly keyFile: string };

/** A certificate for clients that ask for a server of this name (Kubernetes' `--tls-sni-cert-key`). */
export type SniCertificate = TlsCertificate & {
  /** `api.example.com`, or `*.example.com` for any one label in front. @default those in the certificate */
  readonly names?: readonly string[];
};

/**
 * How a server does TLS: 1.2 or newer, with ciphers that keep past connections secret. HTTP/2 is offered as long as
 * nobody has asked for `Server.app`.
 *
 * Files are read again within a second of a change, by renaming, writing or as Kubernetes mounts a Secret, and once a
 * minute where changes are not told. New connections get what is new, open ones stay as they are. A pair that is broken,
 * or half of a new one, changes nothing and is logged as a warning.
 */
export type TlsOptions = TlsCertificate & {
  /** By the name that clients ask for: names that are given before those in certificates, exact ones before `*.`, the first of two. @default none, all clients see the same */
  readonly sni?: readonly SniCertificate[];
  /**
   * PEM of more authorities than those of the authenticators: a client certificate of one of these passes the
   * handshake, and then some authenticator must know it. Above an authority that has not signed itself there must be
   * one that has, here if nowhere else. @default none
   */
  readonly clientCa?: string | Buffer;
  /** The same from a file, read again when it changes. @default none */
  readonly clientCaFile?: string;
};
