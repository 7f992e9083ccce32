import type { Credential, Credentials } from "@virtual-workspaces/transport";

/** How long a kubeconfig is taken to be as it was, ms: a server that refuses everything must not have it read for each request. */
const FRESH = 1_000;

/**
 * Who a kubeconfig says that we are, read again once that is not taken any more: whoever renews tokens and certificates writes
 * them into the file itself as well. A file that cannot be read for now changes nothing.
 */
export class KubeconfigCredentials implements Credentials {
  readonly #load: () => Promise<Credentials | undefined>;
  #current: Credentials | undefined;
  #readAt = performance.now();
  #refused = false;
  #reading: Promise<void> | undefined;

  /** @param load reads the file */
  constructor(current: Credentials | undefined, load: () => Promise<Credentials | undefined>) {
    this.#current = current;
    this.#load = load;
  }

  async get(): Promise<Credential> {
    if (this.#refused && performance.now() - this.#readAt >= FRESH) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return (await this.#current?.get()) ?? {};
  }

  refused(credential: Credential): void {
    this.#current?.refused?.(credential);
    this.#refused = true;
  }

  async #read(): Promise<void> {
    this.#readAt = performance.now();
    try {
      this.#current = await this.#load();
      this.#refused = false;
    } catch {} // half of a file: the next request reads it again
  }
}
