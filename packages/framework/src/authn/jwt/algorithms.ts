/** What signs with an algorithm. */
export interface Algorithm {
  readonly kty: "RSA" | "EC";
  /** Of elliptic curves. */
  readonly crv?: string;
}

const RSA: Algorithm = { kty: "RSA" };

/** Kubernetes' algorithms, all with public keys: what is signed with a shared secret, or not at all, is nobody's. */
export const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map((name) => [name, RSA] as const),
  ["ES256", { kty: "EC", crv: "P-256" }],
  ["ES384", { kty: "EC", crv: "P-384" }],
  ["ES512", { kty: "EC", crv: "P-521" }],
]);
