import { readFile, stat } from "node:fs/promises";
import type { Credential, Credentials } from "@virtual-workspaces/transport";
import { KubeconfigError } from "./config.ts";

/** Part of a credential. */
export interface CredentialPart {
  /** Value of the `Authorization` header. */
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Source of a part of a credential. */
export interface CredentialSource {
  get(): CredentialPart | Promise<CredentialPart>;
  /** Whether {@link get} would return the same as last time, without looking. @default false */
  isCurrent?(): boolean;
  /** Reports that the server rejected the last credential. */
  refused?(): void;
}

/** Current credentials of a kubeconfig's user: the same object while nothing changes. */
export class UserCredentials implements Credentials {
  readonly #sources: readonly CredentialSource[];
  #last: Credential | undefined;
  #of = "";

  constructor(sources: readonly CredentialSource[]) {
    this.#sources = sources;
  }

  /** Synchronous while all sources are current: servers call it for every request. */
  get(): Credential | Promise<Credential> {
    const last = this.#last;
    return last !== undefined && this.#sources.every((source) => source.isCurrent?.() === true) ? last : this.#read();
  }

  async #read(): Promise<Credential> {
    const parts = await Promise.all(this.#sources.map((source) => source.get()));
    const { authorization, ...certificate } = Object.assign({}, ...parts) as CredentialPart;
    const credential = {
      ...(authorization !== undefined && { headers: Object.freeze(["Authorization", authorization]) }),
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
    // Another request may have renewed it already.
    if (credential !== this.#last) return;
    for (const source of this.#sources) source.refused?.();
  }
}

/** Time for which a file is not checked again, in ms. */
const FRESH = 1_000;

/** File that is replaced from time to time, such as the token or certificate of a pod. */
export class FreshFile {
  readonly #path: string;
  readonly #at: string;
  #checked = Number.NEGATIVE_INFINITY;
  #seen = "";
  #text: string | undefined;

  /** @param at field that names the file */
  constructor(path: string, at: string) {
    this.#path = path;
    this.#at = at;
  }

  /** Whether {@link text} would return the content that it returned last. */
  get isFresh(): boolean {
    return this.#text !== undefined && performance.now() - this.#checked < FRESH;
  }

  /**
   * Returns the content, at most 1 s old. A file that is missing for a while keeps its last content.
   * @throws KubeconfigError if it was never readable
   */
  async text(): Promise<string> {
    if (this.#text !== undefined && this.isFresh) return this.#text;
    const now = performance.now();
    try {
      // Mounted secrets are links to folders that are swapped, which changes the inode.
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

  /** Reads the file again next time, even if it looks unchanged. */
  forget(): void {
    this.#checked = Number.NEGATIVE_INFINITY;
    this.#seen = "";
  }
}

/** PEM files of a client certificate and its key. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Creates an upstream's `credentials` from a client certificate. Changed files are read again within a second. Requests fail
 * until both files have been readable once.
 */
export function fileCredentials({ certFile, keyFile }: CertificateFiles): Credentials {
  const [cert, key] = [new FreshFile(certFile, "certFile"), new FreshFile(keyFile, "keyFile")];
  return new UserCredentials([
    {
      get: async () => ({ cert: await cert.text(), key: await key.text() }),
      isCurrent: () => cert.isFresh && key.isFresh,
      refused: () => {
        cert.forget();
        key.forget();
      },
    },
  ]);
}
