import { X509Certificate } from "node:crypto";
import { readText } from "../listener/tls/pair.ts";
import type { Authenticator } from "./authenticator.ts";

/**
 * PEM of one or more authorities, or a file with that, which is read again within a second of a change
 * (`--client-ca-file`). An authority that is taken out of the file vouches for nobody from then on, on open connections
 * neither; a file that cannot be used changes nothing.
 */
export type CaSource = { readonly ca: string | Buffer } | { readonly caFile: string };

/** What an authenticator by these tells the server to trust in handshakes. */
export function handshakeTrust(source: CaSource): Pick<Authenticator, "clientCa" | "clientCaFile"> {
  return "caFile" in source ? { clientCaFile: source.caFile } : { clientCa: source.ca };
}

/** How often a file is looked at, at most, ms. */
const LOOK_EVERY = 1000;

/** The authorities that a source names now. Nothing watches: who is asked nothing reads nothing. */
export class Authorities {
  readonly #file: string | undefined;
  readonly #name: string;
  #pem: string;
  #certificates: readonly X509Certificate[];
  #lookedAt = performance.now();

  /**
   * @param name the authenticator's, for complaints
   * @throws Error when the file cannot be read, or there is no certificate
   */
  constructor(source: CaSource, name: string) {
    this.#name = name;
    this.#file = "caFile" in source ? source.caFile : undefined;
    this.#pem = "caFile" in source ? this.#read(source.caFile) : source.ca.toString();
    this.#certificates = this.#parsed(this.#pem);
  }

  /** The same list as long as they are the same. */
  get now(): readonly X509Certificate[] {
    if (this.#file !== undefined && performance.now() - this.#lookedAt >= LOOK_EVERY) this.#look(this.#file);
    return this.#certificates;
  }

  #look(file: string): void {
    this.#lookedAt = performance.now();
    try {
      const pem = this.#read(file);
      if (pem === this.#pem) return;
      this.#certificates = this.#parsed(pem);
      this.#pem = pem;
    } catch {
      // The server that follows the file for its handshakes tells of it.
    }
  }

  #read(file: string): string {
    return readText(file, `${this.#name}: caFile`);
  }

  #parsed(pem: string): readonly X509Certificate[] {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
    if (this.#file === undefined) throw new Error(`${this.#name}: ca holds no PEM certificate`);
    throw new Error(`${this.#name}: caFile ${this.#file} holds no PEM certificate`);
  }
}
