/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Subject of a certificate. */
export interface CertifiedSubject {
  /** Common name: the user's name. */
  readonly name: string;
  /** Organizations: the user's groups. Security: `system:masters` may do everything. */
  readonly groups: readonly string[];
}

/** Purpose of a certificate: to sign others, to authenticate a client, or to serve under names. */
export type Purpose = { readonly kind: "authority" } | ClientPurpose | ServerPurpose;

/** Authentication of a client. */
export interface ClientPurpose {
  readonly kind: "client";
  /** Additional URIs of the client (`urn:…`, `spiffe://…`). @default none */
  readonly uris?: readonly string[];
}

/** Serving under these names. */
export interface ServerPurpose {
  readonly kind: "server";
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
}

/** Contents of a new certificate. */
export interface CertificateRequest {
  readonly subject: CertifiedSubject;
  readonly purpose: Purpose;
  /** Current time: certificates are valid from an hour before. */
  readonly now: Date;
  /** Validity, ms. @default a year, ten for an authority */
  readonly lifetime?: number;
  /** Kind of the new key. RSA takes tenths of a second; some old tools read nothing else. @default "P-256" */
  readonly key?: "P-256" | "RSA-2048";
}
