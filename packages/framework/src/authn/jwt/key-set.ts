import { createPublicKey } from "node:crypto";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { CryptoKey, JWK } from "jose";
import { ALGORITHMS, type Algorithm, type UnverifiedToken } from "./token.ts";

/** More keys than anybody rotates through: each may have to be tried for a token that names none. */
const MOST_KEYS = 100;
/** All of a key that is public: private members, which some publish by mistake, are not taken along. */
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"] as const;

/** A key that checks signatures. */
class VerificationKey {
  readonly #members: JsonObject;
  readonly #public: JWK;
  readonly #imported = new Map<string, Promise<CryptoKey | undefined>>();

  constructor(members: JsonObject) {
    this.#members = members;
    const known = PUBLIC_MEMBERS.filter((name) => typeof members[name] === "string");
    this.#public = Object.fromEntries(known.map((name) => [name, members[name]])) as unknown as JWK;
  }

  /** Whether it may have signed a token. A key without an id, or a token that names none, is a matter of trying. */
  fits({ alg, kid }: UnverifiedToken["header"]): boolean {
    const { kid: id, alg: only, use, key_ops: operations } = this.#members;
    const { kty, crv } = ALGORITHMS.get(alg) as Algorithm;
    if (this.#public.kty !== kty || (crv !== undefined && this.#public.crv !== crv)) return false;
    if (use !== undefined && use !== "sig") return false;
    if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return false;
    return (only === undefined || only === alg) && (id === undefined || kid === undefined || id === kid);
  }

  /** `undefined`: it is malformed. */
  imported(alg: string, { importJWK }: typeof import("jose")): Promise<CryptoKey | undefined> {
    const known = this.#imported.get(alg);
    if (known !== undefined) return known;
    const imported = importJWK(this.#public, alg).then(
      (key) => key as CryptoKey,
      () => undefined,
    );
    this.#imported.set(alg, imported);
    return imported;
  }
}

/** Public keys of an issuer. */
export class KeySet {
  readonly #keys: readonly VerificationKey[];

  constructor(keys: readonly JsonObject[]) {
    this.#keys = keys.map((members) => new VerificationKey(members));
  }

  /** Whether one of the keys has signed a token. */
  async hasSigned({ text, header }: UnverifiedToken): Promise<boolean> {
    const candidates = this.#keys.filter((key) => key.fits(header));
    if (candidates.length === 0) return false;
    // Loaded with the first token that needs it: it takes as long to load as a third of all the rest.
    const jose = await import("jose");
    for (const candidate of candidates) {
      const key = await candidate.imported(header.alg, jose);
      if (key !== undefined && (await isSignedBy(text, key, { alg: header.alg, jose }))) return true;
    }
    return false;
  }
}

interface Signing {
  readonly alg: string;
  readonly jose: typeof import("jose");
}

async function isSignedBy(token: string, key: CryptoKey, { alg, jose }: Signing): Promise<boolean> {
  try {
    await jose.compactVerify(token, key, { algorithms: [alg] });
    return true;
  } catch (error) {
    // An RSA key that is too short to be safe is a TypeError.
    if (error instanceof jose.errors.JOSEError || error instanceof TypeError) return false;
    throw error;
  }
}

/** The keys of a JSON Web Key Set. @throws Error on what is none */
export function keySetOf(document: unknown): KeySet {
  const keys = isJsonObject(document) ? document["keys"] : undefined;
  if (!Array.isArray(keys) || !keys.every(isJsonObject)) throw new Error("it is no JSON Web Key Set");
  if (keys.length > MOST_KEYS) throw new Error(`it has more than ${MOST_KEYS} keys`);
  return new KeySet(keys);
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** The keys of PEM: public keys and certificates. @throws Error when there is none, or one is malformed or private */
export function keySetOfPem(pem: string): KeySet {
  const blocks = [...pem.matchAll(PEM_BLOCK)];
  if (blocks.length === 0) throw new Error("it holds no PEM of a public key or certificate");
  return new KeySet(
    blocks.map(([block, label]) => {
      if (!/^((RSA )?PUBLIC KEY|CERTIFICATE)$/.test(label ?? "")) throw new Error(`it holds a ${label}`);
      return createPublicKey(block).export({ format: "jwk" }) as JsonObject;
    }),
  );
}
