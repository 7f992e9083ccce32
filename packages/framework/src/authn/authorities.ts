import { X509Certificate } from "node:crypto";
import { readText } from "../listener/tls/pair.ts";
import type { Authenticator } from "./authenticator.ts";

/**
 * PEM of one or more authorities, or a file that holds it (`--client-ca-file`). The file is read again within a second of a
 * change. Certificates of an authority that was removed from the file are rejected from then on, on open connections too. A
 * file that cannot be used changes nothing.
 */
export type CaSource = { readonly ca: string | Buffer } | { readonly caFile: string };

/** Returns the authorities that the server must trust in TLS handshakes for an authenticator with this source. */
export function handshakeTrust(source: CaSource): Pick<Authenticator, "clientCa" | "clientCaFile"> {
  return "caFile" in source ? { clientCaFile: source.caFile } : { clientCa: source.ca };
}

/** Shortest interval between two checks of a file, in ms. */
const LOOK_EVERY = 1000;

/**
 * Current authorities of a source. There is no file watcher: the file is checked only when a request needs the authorities.
 */
export class Authorities {
  readonly #file: string | undefined;
  readonly #name: string;
  #pem: string;
  #certificates: readonly X509Certificate[];
  #lookedAt = performance.now();

  /**
   * @param name name of the authenticator, for error messages
   * @throws Error when the file cannot be read or holds no certificate
   */
  constructor(source: CaSource, name: string) {
    this.#name = name;
    this.#file = "caFile" in source ? source.caFile : undefined;
    this.#pem = "caFile" in source ? this.#read(source.caFile) : source.ca.toString();
    this.#certificates = this.#parsed(this.#pem);
  }

  /** Current authorities; the same array until they change. */
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
      // The server, which reads the same file for its handshakes, reports the error.
    }
  }

  #read(file: string): string {
    return readText(file, `${this.#name}: caFile`);
  }

  #parsed(pem: string): readonly X509Certificate[] {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
    if (this.#file === undefined)
      throw new Error(`${this.#name}: "ca" holds no PEM certificate: give the certificates of one or more authorities`);
    throw new Error(
      `${this.#name}: caFile "${this.#file}" holds no PEM certificate: give the certificates of one or more authorities`,
    );
  }
}
