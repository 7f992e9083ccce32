import { stat } from "node:fs/promises";
import { fileCredentials, loadKubeconfig } from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Credential, Credentials, UpstreamOptions } from "@virtual-workspaces/transport";
import type { OtherServers } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { kubeconfigPaths } from "../process/files.ts";

/** Kubeconfig, and the context in it. */
export interface KubeconfigSource {
  /** @default files of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  readonly file?: string | undefined;
  /** @default the current context */
  readonly context?: string | undefined;
  /** URL in place of the file's, which may then be missing. @default the file's */
  readonly server?: string;
  /** Receives a record of each later reading of a changed file. @default none */
  readonly log?: Log;
}

/**
 * Returns the server of a kubeconfig. Reads its credentials again when the file has changed, and when the server rejects them.
 *
 * @throws Failure
 */
export async function kubeconfigUpstream(source: KubeconfigSource): Promise<KubeconfigUpstream> {
  const { file, context, server, log } = source;
  const options = {
    ...(file !== undefined && { file }),
    ...(context !== undefined && { context }),
    ...(server !== undefined && { overrides: { cluster: { server } } }),
  };
  const load = () => loadKubeconfig(options);
  const files = file === undefined ? kubeconfigPaths() : [file];
  const stamp = await stampOf(files);
  const { upstream, cluster } = await orFail(load);
  const credentials = new KubeconfigCredentials({ load, files, stamp, first: upstream, ...(log && { log }) });
  return { upstream: { ...upstream, credentials }, ...(cluster !== undefined && { cluster }) };
}

interface KubeconfigUpstream {
  readonly upstream: UpstreamOptions;
  /** Workspace in the server's URL. @default none */
  readonly cluster?: string;
}

interface KubeconfigCredentialsOptions extends Pick<KubeconfigSource, "log"> {
  readonly load: () => Promise<{ readonly upstream: UpstreamOptions }>;
  readonly files: readonly string[];
  /** State of the files before the first reading. */
  readonly stamp: string;
  readonly first: UpstreamOptions;
}

/** Minimum time between two reads of a kubeconfig, and between two checks of its files, ms, however many requests there are. */
const FRESH = 1_000;

/**
 * Credentials of a kubeconfig, which are read again once a file has changed or the server rejects them: tools renew tokens and
 * certificates in the file. If the file cannot be read, the current credentials stay.
 */
class KubeconfigCredentials implements Credentials {
  readonly #options: KubeconfigCredentialsOptions;
  #current: Credentials | undefined;
  #stamp: string;
  /** State of the files that could not be read, so that it is logged once. */
  #unreadable = "";
  #readAt = performance.now();
  #checkedAt = this.#readAt;
  #refused = false;
  #reading: Promise<void> | undefined;

  constructor(options: KubeconfigCredentialsOptions) {
    this.#options = options;
    this.#stamp = options.stamp;
    this.#current = options.first.credentials;
  }

  async get(): Promise<Credential> {
    const at = performance.now();
    if (at - this.#checkedAt >= FRESH || (this.#refused && at - this.#readAt >= FRESH)) {
      this.#reading ??= this.#check().finally(() => {
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

  async #check(): Promise<void> {
    const { files, load, first, log } = this.#options;
    this.#checkedAt = performance.now();
    const stamp = await stampOf(files);
    const isNew = stamp !== this.#stamp;
    if (!isNew && !this.#refused) return;
    this.#readAt = this.#checkedAt;
    try {
      const { upstream } = await load();
      this.#current = upstream.credentials;
      this.#refused = false;
      this.#stamp = stamp;
      if (!isNew) return;
      const kubeconfig = files.join(", ");
      log?.({ level: "info", message: "kubeconfig has changed, its credentials are in use", kubeconfig });
      if (serverOf(upstream) !== serverOf(first))
        log?.({ level: "warn", message: "server of the kubeconfig has changed: restart to use it", kubeconfig });
    } catch (error) {
      // It may be half written: the next request reads it again.
      if (stamp !== this.#unreadable)
        log?.({
          level: "warn",
          message: "cannot read the changed kubeconfig, previous credentials stay in use",
          error: (error as Error).message,
        });
      this.#unreadable = stamp;
    }
  }
}

const serverOf = ({ url, tls }: UpstreamOptions): string => JSON.stringify([url, tls]);

/** Returns a text that changes with the files. Mounted Secrets are links to folders that are swapped, which changes the inode. */
async function stampOf(files: readonly string[]): Promise<string> {
  const stamps = files.map(async (file) => {
    const found = await stat(file).catch(() => undefined);
    return found && [found.ino, found.mtimeMs, found.size];
  });
  return JSON.stringify(await Promise.all(stamps));
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
