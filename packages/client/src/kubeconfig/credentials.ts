import { readFile, stat } from "node:fs/promises";
import type { Credential, Credentials } from "@virtual-workspaces/transport";
import { KubeconfigError } from "./config.ts";

/** A part of who we are. */
export interface CredentialPart {
  /** The header's value. */
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Where a part comes from. */
export interface CredentialSource {
  get(): CredentialPart | Promise<CredentialPart>;
  /** The server did not take what it gave last. */
  refused?(): void;
}

/** Who a user of a kubeconfig is, now: the same value as long as nothing has changed. */
export class UserCredentials implements Credentials {
  readonly #sources: readonly CredentialSource[];
  #last: Credential | undefined;
  #of = "";

  constructor(sources: readonly CredentialSource[]) {
    this.#sources = sources;
  }

  async get(): Promise<Credential> {
    const parts = await Promise.all(this.#sources.map((source) => source.get()));
    const { authorization, ...certificate } = Object.assign({}, ...parts) as CredentialPart;
    const credential = {
      ...(authorization !== undefined && { headers: ["Authorization", authorization] }),
      ...certificate,
    };
    const of = JSON.stringify(credential);
    if (this.#last === undefined || this.#of !== of) {
      this.#last = credential;
      this.#of = of;
    }
    return this.#last;
  }

  refused(credential: Credential): void {
    // Another request may have had it renewed since.
    if (credential !== this.#last) return;
    for (const source of this.#sources) source.refused?.();
  }
}

/** How long a file is taken to be as it was, ms. */
const FRESH = 1_000;

/** A file that somebody replaces from time to time, as tokens and certificates of pods are. */
export class FreshFile {
  readonly #path: string;
  readonly #at: string;
  #checked = Number.NEGATIVE_INFINITY;
  #seen = "";
  #text: string | undefined;

  /** @param at the field that names it */
  constructor(path: string, at: string) {
    this.#path = path;
    this.#at = at;
  }

  /** As it is now, or was a second ago. A file that has gone for now is as it was last. @throws KubeconfigError when it has never been read */
  async text(): Promise<string> {
    const now = performance.now();
    if (this.#text !== undefined && now - this.#checked < FRESH) return this.#text;
    try {
      // Mounted secrets are links to folders that are swapped: the inode tells.
      const { ino, mtimeMs, size } = await stat(this.#path);
      const seen = `${ino} ${mtimeMs} ${size}`;
      if (this.#text === undefined || seen !== this.#seen) this.#text = await readFile(this.#path, "utf8");
      this.#seen = seen;
      this.#checked = now;
      return this.#text;
    } catch (cause) {
      if (this.#text !== undefined) return this.#text;
      const { code } = cause as NodeJS.ErrnoException;
      throw new KubeconfigError(`${this.#at}: ${this.#path} cannot be read: ${code}`, { cause });
    }
  }

  /** It is read again, whatever it looks like. */
  forget(): void {
    this.#checked = Number.NEGATIVE_INFINITY;
    this.#seen = "";
  }
}

/** Files of a client certificate and its key, PEM. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Who has a client certificate, as an upstream's `credentials`. The files are read again when they change, a second later at most.
 * Requests fail as long as they have never been readable.
 */
export function fileCredentials({ certFile, keyFile }: CertificateFiles): Credentials {
  const [cert, key] = [new FreshFile(certFile, "certFile"), new FreshFile(keyFile, "keyFile")];
  return new UserCredentials([
    {
      get: async () => ({ cert: await cert.text(), key: await key.text() }),
      refused: () => {
        cert.forget();
        key.forget();
      },
    },
  ]);
}
