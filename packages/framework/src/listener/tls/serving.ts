import { constants } from "node:crypto";
import { createSecureContext, type SecureContext, type SecureContextOptions, type Server } from "node:tls";
import type { Log } from "../../observe/log/log.ts";
import { FileWatch } from "../../util/file-watch.ts";
import { filesOf, isSame, type Material, readMaterial } from "./material.ts";
import { findByName, type Pair } from "./pair.ts";
import type { TlsOptions } from "./tls-options.ts";

/** All ciphers of TLS 1.3, and those of 1.2 with forward secrecy and authenticated encryption. */
const CIPHERS = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** Client authorities of the authenticators. */
export interface ClientAuthorities {
  /** Authorities, PEM. */
  readonly pem: readonly (string | Buffer)[];
  /** Files with authorities. */
  readonly files: readonly string[];
}

/** Looks up the context for a server name. */
type SniCallback = (name: string, choose: (error: Error | null, context?: SecureContext) => void) => void;

/** Certificates and client authorities for handshakes, reloaded after changes. */
export class ServingTls implements Disposable {
  readonly #options: TlsOptions;
  readonly #authorities: readonly (string | Buffer)[];
  readonly #caFiles: readonly string[];
  #material: Material;
  #byName: ReadonlyMap<string, SecureContext>;
  #watch: FileWatch | undefined;
  /** Last error of a reload, so that it is logged once. */
  #problem = "";

  /** @throws Error on invalid options */
  constructor(options: TlsOptions, { pem, files }: ClientAuthorities) {
    this.#options = options;
    this.#authorities = [...pem, ...(options.clientCa === undefined ? [] : [options.clientCa])];
    this.#caFiles = files;
    this.#material = readMaterial(options, files);
    this.#byName = this.#contexts(this.#material);
  }

  /**
   * PEM of all client authorities. For a file it is a copy that equals nothing else: it may change before the next handshake.
   */
  get clientCa(): readonly (string | Buffer)[] {
    return [...this.#authorities, ...this.#material.clientCa.map((pem) => Buffer.from(pem))];
  }

  /** Initial options of a listener. */
  get listenerOptions(): SecureContextOptions & { readonly SNICallback: SniCallback } {
    return {
      ...this.#contextOf(this.#material.pair, this.#material),
      SNICallback: (name, choose) => choose(null, findByName(this.#byName, name)),
    };
  }

  /** Reloads `server` when files change, until disposal. */
  follow(server: Server, log: Log): void {
    const files = [...filesOf(this.#options), ...this.#caFiles];
    if (files.length > 0) this.#watch ??= new FileWatch(files, () => this.#reload(server, log));
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
  }

  #reload(server: Server, log: Log): void {
    try {
      const material = readMaterial(this.#options, this.#caFiles);
      this.#problem = "";
      if (isSame(material, this.#material)) return;
      const byName = this.#contexts(material);
      server.setSecureContext(this.#contextOf(material.pair, material));
      this.#byName = byName;
      this.#material = material;
      log({ level: "info", message: "TLS certificates reloaded" });
    } catch (error) {
      const problem = (error as Error).message;
      if (problem !== this.#problem)
        log({ level: "warn", message: "TLS certificates not reloaded, previous ones stay in use", error: problem });
      this.#problem = problem;
    }
  }

  #contexts(material: Material): Map<string, SecureContext> {
    const contexts = new Map<Pair, SecureContext>();
    for (const pair of material.byName.values())
      if (!contexts.has(pair)) contexts.set(pair, createSecureContext(this.#contextOf(pair, material)));
    return new Map([...material.byName].map(([name, pair]) => [name, contexts.get(pair) as SecureContext]));
  }

  /** Every context must be complete: one chosen by name replaces the server's. */
  #contextOf({ cert, key }: Pair, { clientCa }: Material): SecureContextOptions {
    const ca = [...this.#authorities, ...clientCa];
    return { cert, key, minVersion: "TLSv1.2", ciphers: CIPHERS, ...(ca.length === 0 ? PLAIN : { ...ASKING, ca }) };
  }
}

const PLAIN: SecureContextOptions = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/** A resumed session no longer has the intermediate certificates. */
const ASKING: SecureContextOptions = {
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
};
