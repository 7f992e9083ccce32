import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { readIfThere, writeAtomically } from "../admin/files.ts";

/** The algorithms that tokens are signed with: by an RSA key, by one on the curve P-256. */
export type TokenAlgorithm = "RS256" | "ES256";

/** A public key by which tokens are checked. */
export interface VerificationKey {
  /** Of the public key's DER the SHA-256, as in Kubernetes. */
  readonly kid: string;
  /** The only algorithm that it checks, whatever a token says. */
  readonly algorithm: TokenAlgorithm;
  readonly key: KeyObject;
}

/** What {@link ServiceAccountKeys} are made of, PEM. */
export interface ServiceAccountKeyOptions {
  /** The private key that signs, RSA of 2048 bits or more, or P-256 (`--service-account-signing-key-file`). */
  readonly signing: string;
  /**
   * What tokens are checked with besides: keys that have signed, or will. Each text may hold several keys, public or
   * private, or certificates (`--service-account-key-file`). @default only the public half of the one that signs
   */
  readonly verification?: readonly string[];
}

/** The keys of service account tokens: one signs, that one and all others check. */
export class ServiceAccountKeys {
  /** Signs. */
  readonly signing: VerificationKey;
  /** Checks, the signing one first. */
  readonly verification: readonly VerificationKey[];

  /** @throws Error on a key that cannot be read, is too short, or of another kind */
  constructor({ signing, verification = [] }: ServiceAccountKeyOptions) {
    this.signing = described(privateKey(signing));
    const others = verification.flatMap((pem) => publicKeys(pem)).map((key) => described(key));
    const all = [{ ...this.signing, key: createPublicKey(this.signing.key) }, ...others];
    this.verification = [...new Map(all.map((key) => [key.kid, key])).values()];
  }

  /** Those that may have signed a token: the one that it names where there is that one, else all of its algorithm. */
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
  if (blocks.length === 0) throw new Error("service account keys: a verification key holds no PEM");
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
  throw new Error("service account keys: a key must be RSA of 2048 bits or more, or elliptic of the curve P-256");
}

const generate = promisify(generateKeyPair);

/**
 * The private key in a file, PEM; made if there is none, readable by its owner alone (kcp's `sa.key`). A file that is there
 * is never replaced: all tokens that it has signed would be nobody's. To be called by one process at a time.
 *
 * @param bits of the RSA key. kcp makes 4096, for which the first start would wait a second or more. @default 2048
 * @throws Error on a file that can neither be read nor made, or that is empty
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
    `${path} holds no PEM private key: put it back, or remove it to have a new one made, with which no token of before is good`,
  );
}
