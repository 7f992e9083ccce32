import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import { pemBlocks } from "./pem.ts";

/** PKCS#10 certificate request, as far as the server reads it. */
export interface CertificateRequest {
  /** Organizations of the subject, which are groups in client certificates. */
  readonly organizations: readonly string[];
  /** Whether the holder of the private key has signed the request. */
  readonly isSigned: boolean;
}

/** Element of a DER encoding. */
interface Element {
  readonly tag: number;
  /** Content without tag and length. */
  readonly content: Buffer;
  /** The element itself. */
  readonly whole: Buffer;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const BIT_STRING = 0x03;
const OBJECT_IDENTIFIER = 0x06;
const ORGANIZATION = "55040a";
/** Text of two bytes for each character. */
const BMP_STRING = 0x1e;

const RSA = "2a864886f70d0101";
const ECDSA = "2a8648ce3d04";
/** Digests of signature algorithms, by object identifier. Kubernetes accepts SHA-1 in requests, and no older digest. */
const DIGESTS: Readonly<Record<string, string | undefined>> = {
  [`${RSA}05`]: "sha1",
  [`${RSA}0b`]: "sha256",
  [`${RSA}0c`]: "sha384",
  [`${RSA}0d`]: "sha512",
  [`${ECDSA}01`]: "sha1",
  [`${ECDSA}0302`]: "sha256",
  [`${ECDSA}0303`]: "sha384",
  [`${ECDSA}0304`]: "sha512",
};
const ED25519 = "2b6570";
const RSA_PSS = `${RSA}0a`;
/** Digests of RSA-PSS, by object identifier in the parameters. */
const PSS_DIGESTS = { "608648016503040201": "sha256", "608648016503040202": "sha384", "608648016503040203": "sha512" };

/**
 * Parses a PEM-encoded certificate request.
 *
 * @throws Error that says what is wrong, in the words of Kubernetes where it has some of its own
 */
export function parseCertificateRequest(pem: Buffer): CertificateRequest {
  const [block] = pemBlocks(pem.toString("latin1"));
  if (block?.type !== "CERTIFICATE REQUEST") throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [request, ...beyond] = elements(block.der);
  if (beyond.length > 0) throw new Error("asn1: syntax error: trailing data");
  const [info, algorithm, signature] = elements(of(request, SEQUENCE));
  const [, subject, key] = elements(of(info, SEQUENCE));
  const bits = of(signature, BIT_STRING);
  if (info === undefined || bits[0] !== 0) throw malformed();
  return {
    organizations: organizationsOf(of(subject, SEQUENCE)),
    isSigned: isSigned(info.whole, of(algorithm, SEQUENCE), { key: keyOf(key), signature: bits.subarray(1) }),
  };
}

function keyOf(element: Element | undefined): KeyObject {
  of(element, SEQUENCE);
  try {
    return createPublicKey({ key: element?.whole as Buffer, format: "der", type: "spki" });
  } catch (error) {
    throw new Error("x509: unknown public key algorithm", { cause: error });
  }
}

interface Signed {
  readonly key: KeyObject;
  readonly signature: Buffer;
}

function isSigned(info: Buffer, algorithm: Buffer, { key, signature }: Signed): boolean {
  const [identifier, parameters] = elements(algorithm);
  const id = of(identifier, OBJECT_IDENTIFIER).toString("hex");
  if (id === ED25519) return key.asymmetricKeyType === "ed25519" && verify(null, info, key, signature);
  const pss = id === RSA_PSS ? pssDigest(parameters) : undefined;
  const digest = pss ?? DIGESTS[id];
  const type = id.startsWith(RSA) ? "rsa" : "ec";
  if (digest === undefined) throw new Error("x509: cannot verify signature: algorithm unimplemented");
  if (key.asymmetricKeyType !== type) throw new Error("x509: signature algorithm does not match the public key");
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(digest, info, pss === undefined ? key : { key, ...padding }, signature);
}

function pssDigest(parameters: Element | undefined): string | undefined {
  const encoded = parameters?.whole.toString("hex") ?? "";
  return Object.entries(PSS_DIGESTS).find(([id]) => encoded.includes(id))?.[1];
}

function organizationsOf(subject: Buffer): string[] {
  const attributes = elements(subject).flatMap((set) => elements(of(set, SET)));
  return attributes.flatMap((attribute) => {
    const [type, value] = elements(of(attribute, SEQUENCE));
    if (of(type, OBJECT_IDENTIFIER).toString("hex") !== ORGANIZATION || value === undefined) return [];
    return [value.tag === BMP_STRING ? utf16Of(value.content) : value.content.toString("utf8")];
  });
}

/** Decodes a copy: the signature is over the bytes as they are. */
function utf16Of(bigEndian: Buffer): string {
  if (bigEndian.length % 2 !== 0) throw malformed();
  return Buffer.from(bigEndian).swap16().toString("utf16le");
}

function of(element: Element | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw malformed();
  return element.content;
}

/** Splits the content of a DER element. */
function elements(content: Buffer): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < content.length; ) {
    const { start, end } = bounds(content, at);
    found.push({
      tag: content[at] ?? 0,
      content: content.subarray(start, end),
      whole: content.subarray(at, end),
    });
    at = end;
  }
  return found;
}

/** Returns where the content of the element at an offset starts and ends. */
function bounds(bytes: Buffer, at: number): { readonly start: number; readonly end: number } {
  const first = bytes[at + 1] ?? 0x80;
  const size = first < 0x80 ? 0 : first - 0x80;
  const start = at + 2 + size;
  if (first === 0x80 || size > 4 || start > bytes.length) throw malformed();
  const end = start + (size === 0 ? first : bytes.readUIntBE(at + 2, size));
  if (end > bytes.length) throw malformed();
  return { start, end };
}

function malformed(): Error {
  return new Error("asn1: structure error: it is not a certificate request");
}
