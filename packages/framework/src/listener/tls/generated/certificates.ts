/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Who a certificate names. */
export interface CertifiedSubject {
  /** The common name: the user's. */
  readonly name: string;
  /** The organizations: the user's groups. `system:masters` is for who may do everything. */
  readonly groups: readonly string[];
}

/** What a certificate is for: to sign others, to say who a client is, or to be called by names. */
export type Purpose = { readonly kind: "authority" } | ClientPurpose | ServerPurpose;

/** To say who a client is. */
export interface ClientPurpose {
  readonly kind: "client";
  /** What else the client may be called by, URIs (`urn:…`, `spiffe://…`). @default nothing */
  readonly uris?: readonly string[];
}

/** To be called by these names. */
export interface ServerPurpose {
  readonly kind: "server";
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
}

/** What is to be certified, from when on. */
export interface CertificateRequest {
  readonly subject: CertifiedSubject;
  readonly purpose: Purpose;
  /** The clock: certificates are good from an hour before. */
  readonly now: Date;
  /** For how long it is good, ms. @default a year, an authority's ten */
  readonly lifetime?: number;
  /** The new key. RSA takes tenths of a second; some old tools read no other. @default "P-256" */
  readonly key?: "P-256" | "RSA-2048";
}
