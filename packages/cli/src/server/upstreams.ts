import { fileCredentials, loadKubeconfig } from "@virtual-workspaces/client";
import type { Credential, Credentials, UpstreamOptions } from "@virtual-workspaces/transport";
import type { OtherServers } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";

/** Returns the server of a kubeconfig. Reads its credentials again when the server rejects them. @throws Failure */
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
  /** Workspace in the server's URL. @default none */
  readonly cluster?: string;
}

/** Minimum time between two reads of a kubeconfig, ms, however many requests the server rejects. */
const FRESH = 1_000;

/**
 * Credentials of a kubeconfig, which are read again once the server rejects them: tools renew tokens and certificates in the
 * file. If the file cannot be read, the current credentials stay.
 */
class KubeconfigCredentials implements Credentials {
  readonly #load: () => Promise<Credentials | undefined>;
  #current: Credentials | undefined;
  #readAt = performance.now();
  #refused = false;
  #reading: Promise<void> | undefined;

  /** Creates the credentials. @param load reads the file */
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
    } catch {} // possibly half written: the next request reads it again
  }
}

/**
 * Certificate with which a shard authenticates at servers of virtual workspaces, and the authorities it trusts there. Paths
 * are absolute.
 */
export interface ShardIdentity {
  readonly ca: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A server of virtual workspaces. */
export interface ForwardedTo extends ShardIdentity {
  readonly url: string;
}

/** Returns the connection options for such a server. */
export function upstreamAt({ url, ...identity }: ForwardedTo): UpstreamOptions {
  return { url, ...asShard(identity) };
}

/** Returns TLS options for connections as the shard. Certificate and key are read again when they change. */
export function asShard({ ca, ...files }: ShardIdentity): OtherServers {
  return { tls: { ca }, credentials: fileCredentials(files) };
}
