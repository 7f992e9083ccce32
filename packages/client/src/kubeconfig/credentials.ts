import type { Credential, Credentials } from "@virtual-workspaces/transport";

/** A part of who we are. */
export interface Part {
  /** The header's value. */
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Where a part comes from. */
export interface Source {
  get(): Part | Promise<Part>;
  /** The server did not take what it gave last. */
  refused?(): void;
}

/** Who a user of a kubeconfig is, now: the same value as long as nothing has changed. */
export class UserCredentials implements Credentials {
  readonly #sources: readonly Source[];
  #last: Credential | undefined;
  #of = "";

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  async get(): Promise<Credential> {
    const parts = await Promise.all(this.#sources.map((source) => source.get()));
    const { authorization, ...certificate } = Object.assign({}, ...parts) as Part;
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
