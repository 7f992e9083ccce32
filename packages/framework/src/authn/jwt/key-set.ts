import { createPublicKey } from "node:crypto";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { CryptoKey, JWK } from "jose";
import { ALGORITHMS, type Algorithm, type UnverifiedToken } from "./token.ts";

/** Limit of keys: for a token that names none, each may have to be tried. */
const MOST_KEYS = 100;
/** Public members of a key. Private members, which some issuers publish by mistake, are not copied. */
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"] as const;

/** Key that verifies signatures. */
class VerificationKey {
  readonly #members: JsonObject;
  readonly #public: JWK;
  readonly #imported = new Map<string, Promise<CryptoKey | undefined>>();

  constructor(members: JsonObject) {
    this.#members = members;
    const known = PUBLIC_MEMBERS.filter((name) => typeof members[name] === "string");
    this.#public = Object.fromEntries(known.map((name) => [name, members[name]])) as unknown as JWK;
  }

  /** Returns whether the key may have signed a token. A key without an id, and a token that names none, must be tried. */
  fits({ alg, kid }: UnverifiedToken["header"]): boolean {
    const { kid: id, alg: only, use, key_ops: operations } = this.#members;
    const { kty, crv } = ALGORITHMS.get(alg) as Algorithm;
    if (this.#public.kty !== kty || (crv !== undefined && this.#public.crv !== crv)) return false;
    if (use !== undefined && use !== "sig") return false;
    if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return false;
    return (only === undefined || only === alg) && (id === undefined || kid === undefined || id === kid);
  }

  /** Returns `undefined` when the key is malformed. */
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

  /** Returns whether one of the keys signed a token. */
  async hasSigned({ text, header }: UnverifiedToken): Promise<boolean> {
    const candidates = this.#keys.filter((key) => key.fits(header));
    if (candidates.length === 0) return false;
    // Loaded with the first token: it takes a third of the load time of everything else.
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
    // An RSA key that is too short to be safe causes a TypeError.
    if (error instanceof jose.errors.JOSEError || error instanceof TypeError) return false;
    throw error;
  }
}

/** Returns the keys of a JSON Web Key Set. @throws Error on anything else */
export function keySetOf(document: unknown): KeySet {
  const keys = isJsonObject(document) ? document["keys"] : undefined;
  if (!Array.isArray(keys) || !keys.every(isJsonObject))
    throw new Error('not a JSON Web Key Set: give an object with a list "keys"');
  if (keys.length > MOST_KEYS) throw new Error(`more than ${MOST_KEYS} keys: remove those that are no longer used`);
  return new KeySet(keys);
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** Returns the keys and certificates of a PEM text. @throws Error when there is none, or one is malformed or private */
export function keySetOfPem(pem: string): KeySet {
  const blocks = [...pem.matchAll(PEM_BLOCK)];
  if (blocks.length === 0) throw new Error("no PEM block found: give public keys or certificates");
  return new KeySet(
    blocks.map(([block, label]) => {
      if (!/^((RSA )?PUBLIC KEY|CERTIFICATE)$/.test(label ?? ""))
        throw new Error(`unsupported PEM block "${label}": give public keys or certificates`);
      return createPublicKey(block).export({ format: "jwk" }) as JsonObject;
    }),
  );
}
