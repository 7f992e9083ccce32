import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { bits, explicit, implicit, integer, octets, oid, pem, sequence, setOf, TRUE, text, time } from "./der.ts";

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Who a certificate names: the common name is the user, the organizations are the groups. */
export interface Subject {
  readonly name: string;
  readonly groups: readonly string[];
}

/** What a certificate is for. Hosts are DNS names; addresses are bytes. */
export type Purpose =
  | { readonly kind: "authority" }
  | { readonly kind: "client" }
  | { readonly kind: "server"; readonly hosts: readonly string[]; readonly addresses: readonly Uint8Array[] };

/** Who signs. */
export interface Authority {
  readonly subject: Subject;
  /** PEM. */
  readonly key: string;
}

const DAY = 24 * 60 * 60 * 1000;
/** Clocks of virtual machines lag. */
const LEEWAY = 60 * 60 * 1000;
const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

/**
 * A certificate with a new P-256 key (X.509, RFC 5280), with what strict verifiers ask for: key identifiers, usages,
 * constraints. Good for a year, an authority's for ten.
 *
 * @param authority who signs; without one the certificate signs itself
 */
export function issue(
  request: { readonly subject: Subject; readonly purpose: Purpose; readonly now: Date },
  authority?: Authority,
): KeyPair {
  const { subject, purpose, now } = request;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = authority === undefined ? privateKey : createPrivateKey(authority.key);
  const days = purpose.kind === "authority" ? 3650 : 365;
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(serial()),
    ECDSA_WITH_SHA256,
    nameOf(authority?.subject ?? subject),
    sequence(time(new Date(now.getTime() - LEEWAY)), time(new Date(now.getTime() + days * DAY))),
    nameOf(subject),
    spki(publicKey),
    explicit(3, sequence(...extensions(purpose, { own: publicKey, signer: createPublicKey(signer) }))),
  );
  const signed = sequence(content, ECDSA_WITH_SHA256, bits(sign("sha256", content, signer)));
  return { cert: pem("CERTIFICATE", signed), key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}

function nameOf({ name, groups }: Subject): Buffer {
  const organizations = groups.map((group) => setOf(sequence(oid("2.5.4.10"), text(group))));
  return sequence(...organizations, setOf(sequence(oid("2.5.4.3"), text(name))));
}

function extensions(purpose: Purpose, keys: { readonly own: KeyObject; readonly signer: KeyObject }): Buffer[] {
  return [
    ...usages(purpose),
    extension("2.5.29.14", octets(identifier(keys.own))),
    extension("2.5.29.35", sequence(implicit(0, identifier(keys.signer)))),
  ];
}

function usages(purpose: Purpose): Buffer[] {
  const constraints = "2.5.29.19";
  const usage = "2.5.29.15";
  const extended = "2.5.29.37";
  const serverAuth = "1.3.6.1.5.5.7.3.1";
  const clientAuth = "1.3.6.1.5.5.7.3.2";
  if (purpose.kind === "authority") {
    // May sign certificates and revocations, but no further authorities.
    return [
      critical(constraints, sequence(TRUE, integer(Buffer.from([0])))),
      critical(usage, bits(Buffer.from([0b0000_0110]), 1)),
    ];
  }
  const leaf = [critical(constraints, sequence()), critical(usage, bits(Buffer.from([0b1000_0000]), 7))];
  if (purpose.kind === "client") return [...leaf, extension(extended, sequence(oid(clientAuth)))];
  const names = purpose.hosts.map((host) => implicit(2, Buffer.from(host)));
  const addresses = purpose.addresses.map((address) => implicit(7, address));
  return [
    ...leaf,
    extension(extended, sequence(oid(serverAuth))),
    extension("2.5.29.17", sequence(...names, ...addresses)),
  ];
}

const extension = (id: string, value: Uint8Array): Buffer => sequence(oid(id), octets(value));

const critical = (id: string, value: Uint8Array): Buffer => sequence(oid(id), TRUE, octets(value));

function spki(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

/** Names a key by its hash (after RFC 7093); any value that tells keys apart will do. */
function identifier(key: KeyObject): Buffer {
  return createHash("sha256").update(spki(key)).digest().subarray(0, 20);
}

/** Positive and not to be guessed. */
function serial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}
