// Generates authorities and certificates, valid and invalid ones, so that tests use real handshakes.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { bits, explicit, implicit, integer, octets, oid, pem, sequence, setOf, TRUE, text, time } from "./der.ts";

export const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
export const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

/** Certificate and key, PEM. Intermediate certificates follow the certificate, as in a handshake. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface Validity {
  /** Start of validity, hours from now. @default -1 */
  readonly from?: number;
  /** End of validity, hours from now. @default 1 */
  readonly to?: number;
}

export interface LeafOptions extends Validity {
  readonly name: string;
  readonly organizations?: readonly string[];
  /** Extended key usages. An empty list omits the extension. @default those of a TLS client */
  readonly usages?: readonly string[];
  /** Host names in addition to those of this machine. @default none */
  readonly hosts?: readonly string[];
}

export interface AuthorityOptions extends Validity {
  readonly usages?: readonly string[];
  /** Maximum number of authorities below it. @default unlimited */
  readonly pathLength?: number;
  /** Whether the certificate marks it as an authority. @default true */
  readonly ca?: boolean;
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Certificate authority. */
export class Authority {
  /** Certificate of the authority, PEM. */
  readonly cert: string;
  readonly #name: string;
  readonly #keys: Keys;
  /** Intermediate certificates that holders send with their own. */
  readonly #chain: readonly string[];

  private constructor(own: { name: string; keys: Keys; cert: string; chain: readonly string[] }) {
    this.#name = own.name;
    this.#keys = own.keys;
    this.cert = own.cert;
    this.#chain = own.chain;
  }

  /** Returns a self-signed authority. */
  static root(name: string, options: AuthorityOptions = {}): Authority {
    const keys = newKeys();
    const cert = signed({ name, keys, issuer: { name, keys }, extensions: authority(options), validity: options });
    return new Authority({ name, keys, cert, chain: [] });
  }

  /** Returns an authority that this one has signed. */
  intermediate(name: string, options: AuthorityOptions = {}): Authority {
    const keys = newKeys();
    const cert = signed({ name, keys, issuer: this.#issuer, extensions: authority(options), validity: options });
    return new Authority({ name, keys, cert, chain: [cert, ...this.#chain] });
  }

  /** Issues a certificate, for a client unless `usages` differ. It is also valid for a server on this machine. */
  issue(options: LeafOptions): KeyPair {
    const { name, organizations = [], usages = [CLIENT_AUTH], hosts = [] } = options;
    const keys = newKeys();
    const extensions = [critical(CONSTRAINTS, sequence()), extension(NAMES, names(hosts)), ...extended(usages)];
    const cert = signed({ name, organizations, keys, issuer: this.#issuer, extensions, validity: options });
    const key = keys.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    return { cert: [cert, ...this.#chain].join(""), key };
  }

  get #issuer(): { readonly name: string; readonly keys: Keys } {
    return { name: this.#name, keys: this.#keys };
  }
}

const HOUR = 3_600_000;
const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const CONSTRAINTS = "2.5.29.19";
const NAMES = "2.5.29.17";
const names = (hosts: readonly string[]): Buffer =>
  sequence(
    ...["localhost", ...hosts].map((host) => implicit(2, Buffer.from(host))),
    implicit(7, Buffer.from([127, 0, 0, 1])),
  );

interface Content {
  readonly name: string;
  readonly organizations?: readonly string[];
  readonly keys: Keys;
  readonly issuer: { readonly name: string; readonly keys: Keys };
  readonly extensions: readonly Buffer[];
  readonly validity: Validity;
}

function signed({ name, organizations = [], keys, issuer, extensions, validity }: Content): string {
  const { from = -1, to = 1 } = validity;
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(8)),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name, []),
    sequence(time(new Date(Date.now() + from * HOUR)), time(new Date(Date.now() + to * HOUR))),
    nameOf(name, organizations),
    spki(keys),
    explicit(3, sequence(...extensions, ...identifiers(keys, issuer.keys))),
  );
  return pem(
    "CERTIFICATE",
    sequence(content, ECDSA_WITH_SHA256, bits(sign("sha256", content, issuer.keys.privateKey))),
  );
}

function authority({ pathLength, ca = true, usages = [] }: AuthorityOptions): Buffer[] {
  const length = pathLength === undefined ? [] : [integer(Buffer.from([pathLength]))];
  return [
    critical(CONSTRAINTS, ca ? sequence(TRUE, ...length) : sequence()),
    critical("2.5.29.15", bits(Buffer.from([0b0000_0110]), 1)), // key usage: sign certificates and revocation lists
    ...extended(usages),
  ];
}

function extended(usages: readonly string[]): Buffer[] {
  return usages.length === 0 ? [] : [extension("2.5.29.37", sequence(...usages.map(oid)))];
}

function nameOf(name: string, organizations: readonly string[]): Buffer {
  const parts = organizations.map((one) => setOf(sequence(oid("2.5.4.10"), text(one))));
  return sequence(...parts, ...(name === "" ? [] : [setOf(sequence(oid("2.5.4.3"), text(name)))]));
}

function identifiers(own: Keys, signer: Keys): Buffer[] {
  const id = (keys: Keys): Buffer => createHash("sha256").update(spki(keys)).digest().subarray(0, 20);
  return [extension("2.5.29.14", octets(id(own))), extension("2.5.29.35", sequence(implicit(0, id(signer))))];
}

const extension = (id: string, value: Uint8Array): Buffer => sequence(oid(id), octets(value));
const critical = (id: string, value: Uint8Array): Buffer => sequence(oid(id), TRUE, octets(value));
const newKeys = (): Keys => generateKeyPairSync("ec", { namedCurve: "P-256" });
const spki = ({ publicKey }: Keys): Buffer => publicKey.export({ type: "spki", format: "der" });
