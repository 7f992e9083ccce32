import { fileCredentials, loadKubeconfig } from "@virtual-workspaces/client";
import type { Credential, Credentials, UpstreamOptions } from "@virtual-workspaces/transport";
import type { OtherServers } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";

/** How the server of a kubeconfig is asked, by credentials that are read again when they are refused. @throws Failure */
export async function kubeconfigUpstream(file: string, context?: string): Promise<KubeconfigUpstream> {
  return orFail(async () => {
    const load = () => loadKubeconfig({ file, ...(context !== undefined && { context }) });
    const { upstream, cluster } = await load();
    const credentials = new KubeconfigCredentials(
      upstream.credentials,
      async () => (await load()).upstream.credentials,
    );
    return { upstream: { ...upstream, credentials }, ...(cluster !== undefined && { cluster }) };
  });
}

interface KubeconfigUpstream {
  readonly upstream: UpstreamOptions;
  /** @default none */
  readonly cluster?: string;
}

/** How long a kubeconfig is taken to be as it was, ms: a server that refuses everything must not have it read for each request. */
const FRESH = 1_000;

/**
 * Who a kubeconfig says that we are, read again once that is not taken any more: whoever renews tokens and certificates writes
 * them into the file itself as well. A file that cannot be read for now changes nothing.
 */
class KubeconfigCredentials implements Credentials {
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

/** By what servers of virtual workspaces know this one, and whom it trusts there. Paths are absolute. */
export interface ShardIdentity {
  readonly ca: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A server of virtual workspaces. */
export interface ForwardedTo extends ShardIdentity {
  readonly url: string;
}

/** How such a server is reached. */
export function upstreamAt({ url, ...identity }: ForwardedTo): UpstreamOptions {
  return { url, ...asShard(identity) };
}

/** What a connection as the shard is made with. Certificate and key are read again when they change. */
export function asShard({ ca, ...files }: ShardIdentity): OtherServers {
  return { tls: { ca }, credentials: fileCredentials(files) };
}
