import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { readIfThere, writeAtomically } from "../admin/files.ts";

/** Signature algorithms of tokens: RSA, or ECDSA on curve P-256. */
export type TokenAlgorithm = "RS256" | "ES256";

/** Public key that verifies tokens. */
export interface VerificationKey {
  /** Key ID: SHA-256 of the public key's DER encoding, as in Kubernetes. */
  readonly kid: string;
  /** The only algorithm the key accepts. Security: the token's own claim is not trusted. */
  readonly algorithm: TokenAlgorithm;
  readonly key: KeyObject;
}

/** Keys of {@link ServiceAccountKeys}, PEM. */
export interface ServiceAccountKeyOptions {
  /** Private key that signs: RSA of at least 2048 bits, or P-256 (`--service-account-signing-key-file`). */
  readonly signing: string;
  /**
   * Keys of past and future signers (`--service-account-key-file`): each text has public or private keys, or certificates.
   * @default only the signing key's public half
   */
  readonly verification?: readonly string[];
}

/** Keys of service account tokens: one signs; that one and all others verify. */
export class ServiceAccountKeys {
  /** Key that signs. */
  readonly signing: VerificationKey;
  /** Keys that verify, the signing one first. */
  readonly verification: readonly VerificationKey[];

  /** @throws Error on a key that is unreadable, too short or of another type */
  constructor({ signing, verification = [] }: ServiceAccountKeyOptions) {
    this.signing = described(privateKey(signing));
    const others = verification.flatMap((pem) => publicKeys(pem)).map((key) => described(key));
    const all = [{ ...this.signing, key: createPublicKey(this.signing.key) }, ...others];
    this.verification = [...new Map(all.map((key) => [key.kid, key])).values()];
  }

  /** Returns keys that may have signed a token: the one with its key ID, else all of its algorithm. */
  candidates(algorithm: string, kid: string | undefined): readonly VerificationKey[] {
    const fitting = this.verification.filter((key) => key.algorithm === algorithm);
    const named = fitting.filter((key) => key.kid === kid);
    return named.length > 0 ? named : fitting;
  }
}

function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new Error("service account keys: the signing key must be a PEM private key without a passphrase", { cause });
  }
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

function publicKeys(pem: string): readonly KeyObject[] {
  const blocks = [...pem.matchAll(BLOCK)].filter(([, label]) => label !== "EC PARAMETERS").map(([block]) => block);
  if (blocks.length === 0) throw new Error("service account keys: a verification key contains no PEM");
  return blocks.map((block) => {
    try {
      return createPublicKey(block);
    } catch (cause) {
      throw new Error("service account keys: a verification key must be a PEM key or certificate", { cause });
    }
  });
}

function described(key: KeyObject): VerificationKey {
  const bytes = (key.type === "private" ? createPublicKey(key) : key).export({ type: "spki", format: "der" });
  const kid = createHash("sha256").update(bytes).digest("base64url");
  return { kid, algorithm: algorithmOf(key), key };
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): TokenAlgorithm {
  if (type === "rsa" && (details?.modulusLength ?? 0) >= 2048) return "RS256";
  if (type === "ec" && details?.namedCurve === "prime256v1") return "ES256";
  throw new Error("invalid service account key: use RSA with at least 2048 bits, or the elliptic curve P-256");
}

const generate = promisify(generateKeyPair);

/**
 * Returns the private key in a file, PEM; creates it if missing, readable only by its owner (kcp's `sa.key`). An existing
 * file is never replaced, since all tokens it has signed would become invalid. Only one process at a time may call it.
 *
 * @param bits size of the RSA key; kcp's 4096 would delay the first start by a second or more. Default: 2048
 * @throws Error on a file that cannot be read or created, or is empty
 */
export async function serviceAccountKeyFile(path: string, bits = 2048): Promise<string> {
  const kept = readIfThere(path);
  if (kept !== undefined) return checked(path, kept.toString("utf8"));
  const { privateKey } = await generate("rsa", {
    modulusLength: bits,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeAtomically(path, privateKey, 0o600);
  return privateKey;
}

function checked(path: string, pem: string): string {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) return pem;
  throw new Error(
    `${path} contains no PEM private key: restore it, or remove it to create a new one, which invalidates existing tokens`,
  );
}
