/**
 * Certificates: serving certificates, and generating and signing them.
 *
 * @module
 */

export type {
  CertificateRequest,
  CertifiedSubject,
  ClientPurpose,
  KeyPair,
  Purpose,
  ServerPurpose,
} from "../listener/tls/generated/certificates.ts";
export {
  issue as issueCertificate,
  type NewSigningRequest,
  newSigningRequest,
  signRequest,
} from "../listener/tls/generated/certify.ts";
export {
  type GeneratedTls,
  type GeneratedTlsOptions,
  generatedTls,
  type UserCertificate,
} from "../listener/tls/generated/generated.ts";
export type { SniCertificate, TlsCertificate, TlsOptions } from "../listener/tls/tls-options.ts";
