// PKCS #10 certificate requests, as openssl and Go's crypto/x509 make them.
import { constants, generateKeyPairSync, type KeyPairKeyObjectResult, sign } from "node:crypto";
import { bits, integer, oid, pem, sequence, setOf, text } from "../../_support/der.ts";

interface Form {
  readonly keys: () => KeyPairKeyObjectResult;
  /** Identifier and parameters of the signature's algorithm. */
  readonly algorithm: Buffer;
  readonly digest: string | null;
  readonly padding?: object;
}

const sha256 = sequence(oid("2.16.840.1.101.3.4.2.1"));
const explicit = (number: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xa0 | number, value.length]), value]);
const ec = (namedCurve: string) => () => generateKeyPairSync("ec", { namedCurve });
const rsa = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
const pssOptions = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const P_256: Form = { keys: ec("P-256"), algorithm: sequence(oid("1.2.840.10045.4.3.2")), digest: "sha256" };

/** Forms of keys and signatures. */
export const FORMS: Readonly<Record<string, Form>> = {
  "ECDSA P-256": P_256,
  "ECDSA P-384": { keys: ec("P-384"), algorithm: sequence(oid("1.2.840.10045.4.3.3")), digest: "sha384" },
  RSA: { keys: rsa, algorithm: sequence(oid("1.2.840.113549.1.1.13")), digest: "sha512" },
  "RSA-PSS": {
    keys: rsa,
    algorithm: sequence(
      oid("1.2.840.113549.1.1.10"),
      sequence(explicit(0, sha256), explicit(2, integer(Buffer.from([32])))),
    ),
    digest: "sha256",
    padding: pssOptions,
  },
  Ed25519: { keys: () => generateKeyPairSync("ed25519"), algorithm: sequence(oid("1.3.101.112")), digest: null },
};

const TYPES = { name: "2.5.4.3", organization: "2.5.4.10" };

/** Returns a PEM-encoded request that a new key has signed. */
export function certificateRequest(organizations: readonly string[], form: Form = P_256, encode = text): string {
  const attribute = (type: keyof typeof TYPES, value: string): Buffer =>
    setOf(sequence(oid(TYPES[type]), encode(value)));
  const subject = sequence(
    ...organizations.map((organization) => attribute("organization", organization)),
    attribute("name", "jane"),
  );
  const { publicKey, privateKey } = form.keys();
  const key = publicKey.export({ format: "der", type: "spki" });
  const info = sequence(integer(Buffer.from([0])), subject, key, Buffer.from([0xa0, 0]));
  const signature = sign(form.digest, info, { key: privateKey, ...form.padding });
  return pem("CERTIFICATE REQUEST", sequence(info, form.algorithm, bits(signature)));
}

export const base64 = (content: string): string => Buffer.from(content).toString("base64");
