/**
 * Authentication: bearer tokens, client certificates, JWT, request headers, anonymous callers.
 *
 * @module
 */

export { type AnonymousOptions, anonymous } from "../authn/anonymous.ts";
export type { ConnectionFacts } from "../authn/authenticator.ts";
export type { CaSource } from "../authn/authorities.ts";
export {
  bearerTokens,
  type TokenAuthenticator,
  type TokenUser,
  type TokenVerdict,
  type TokenVerifier,
  takesTokens,
  tokenFile,
} from "../authn/bearer-tokens.ts";
export { type ClientCertificateOptions, clientCertificates } from "../authn/client-certificates.ts";
export { callersTokenHeaders } from "../authn/headers.ts";
export {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  authenticationConfiguration,
} from "../authn/jwt/configuration.ts";
export { JwtConfigurations, type JwtConfigurationsOptions } from "../authn/jwt/configurations.ts";
export { jwt } from "../authn/jwt/jwt.ts";
export type {
  ClaimMappings,
  ClaimOrExpression,
  ClaimValidationRule,
  ExtraMapping,
  JwtAuthenticator,
  JwtIssuer,
  JwtKeys,
  JwtSettings,
  PrefixedClaimOrExpression,
  UserValidationRule,
} from "../authn/jwt/jwt-options.ts";
export { type RequestHeaderOptions, requestHeader } from "../authn/request-header.ts";
export { clientCertificate, connectionOf } from "../listener/connections.ts";
export { ANONYMOUS, AUTHENTICATED, authenticatedUser, UNAUTHENTICATED } from "../request/user.ts";
