import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@virtual-workspaces/framework/server";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { isStoreError, type Lease, type Store, StoreError } from "@virtual-workspaces/store";
import type { ShardUrls } from "../shard-urls.ts";
import type { ServiceAccountKeys } from "../tokens/keys.ts";

/** Settings that all processes of a shard must share: each writes them into objects, or signs with them. */
export interface ReplicaSettings {
  readonly urls: ShardUrls;
  /** CA certificate with which clients verify the server, PEM. */
  readonly rootCa: string;
  readonly keys: ServiceAccountKeys;
}

export interface ReplicasOptions {
  readonly store: Store;
  readonly shard: string;
  /** Name of this process, unique among them and stable over restarts. */
  readonly instance: string;
  readonly alike: ReplicaSettings;
  readonly log: Log;
}

/** Another process serves the shard with other settings: the starting process must exit. */
export class ReplicaMismatch extends StoreError {
  constructor(message: string) {
    super("Locked", message);
  }
}

/** Time after which a killed process is forgotten, in seconds. */
const TTL = 5;
/** Wait of a starting process for differing ones to go, in milliseconds: they may have been killed. */
const PATIENCE = (TTL + 3) * 1000;

const REMEDIES: Readonly<Record<string, string>> = {
  urls: "give all the same --shard-base-url, of a load balancer in front of them",
  rootCa: "give all the same --tls-cert-file, or a --root-ca-file with which clients can verify all of them",
  keys: "give all the same --service-account-signing-key-file, or each the others' keys with --service-account-key-file",
};

/** The server's flags do not set the address of a further shard. */
const FURTHER =
  "give all the same --external-hostname and --secure-port, with a load balancer on each shard's port, or run one process";

/**
 * Other processes that serve a shard from the same store. The controllers of all of them work, which is harmless while all
 * produce the same objects: a process that would not does not start. Each keeps a record with a lease in the store.
 */
export class Replicas implements AsyncDisposable {
  readonly #options: ReplicasOptions;
  readonly #stop = new AbortController();
  #lease: Lease | undefined;
  #running: Promise<void> | undefined;

  private constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** @throws ReplicaMismatch when another process differs, with the setting and the remedy, and the errors of the store */
  static async join(options: ReplicasOptions): Promise<Replicas> {
    await using stack = new AsyncDisposableStack();
    const peers = stack.use(new Replicas(options));
    await peers.#write();
    await peers.#compare();
    peers.#running = peers.#keep();
    stack.move();
    return peers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    // An unavailable store expires the lease itself.
    if (this.#lease !== undefined) await this.#options.store.revoke(this.#lease).catch(() => undefined);
  }

  get #prefix(): string {
    return `~process/${this.#options.shard}/`;
  }

  async #write(): Promise<void> {
    const { store, instance, alike } = this.#options;
    this.#lease = await store.grant(TTL);
    const key = this.#prefix + hashOf(instance);
    const value = Buffer.from(JSON.stringify(recordOf(alike)));
    await store.commit({ conditions: [], operations: [{ type: "put", key, value, lease: this.#lease }] });
  }

  async #compare(): Promise<void> {
    const { shard, log } = this.#options;
    const deadline = performance.now() + PATIENCE;
    for (let told = false; ; told = true) {
      const difference = await this.#difference();
      if (difference === undefined) return;
      const message = `another process serves the shard ${shard} from this store with ${difference}`;
      if (performance.now() >= deadline) throw new ReplicaMismatch(message);
      if (!told) log({ level: "warn", message: `waiting for the other process to stop: ${message}` });
      await delay(250);
    }
  }

  async #difference(): Promise<string | undefined> {
    const { store, shard, instance, alike } = this.#options;
    const own = recordOf(alike);
    const { entries } = await store.range({ from: this.#prefix, to: `${this.#prefix}~` });
    for (const { key, value } of entries) {
      if (key === this.#prefix + hashOf(instance)) continue;
      const other: Readonly<Record<string, unknown>> = JSON.parse(value.toString());
      const differing = Object.keys(REMEDIES).find((name) => other[name] !== own[name]);
      if (differing === undefined) continue;
      if (differing !== "urls") return `${WHAT[differing]}: ${REMEDIES[differing]}`;
      const remedy = shard === ROOT_SHARD ? REMEDIES["urls"] : FURTHER;
      return `other URLs (${other[differing]}, here ${own[differing]}): ${remedy}`;
    }
    return undefined;
  }

  async #keep(): Promise<void> {
    const { store, log } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      await delay((TTL * 1000) / 4, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (this.#lease !== undefined) this.#lease = await store.renew(this.#lease);
      } catch (error) {
        if (signal.aborted || (isStoreError(error) && error.code === "Closed")) return;
        if (!isStoreError(error) || error.code !== "LeaseNotFound") continue;
        await this.#write().catch((cause) =>
          log({ level: "warn", message: "failed to announce this process to the others", error: String(cause) }),
        );
      }
    }
  }
}

const WHAT: Readonly<Record<string, string>> = {
  rootCa: "another certificate authority",
  keys: "other keys of service accounts",
};

function recordOf({ urls, rootCa, keys }: ReplicaSettings): Readonly<Record<string, string>> {
  const { baseURL, externalURL, virtualWorkspaceURL } = urls;
  return {
    urls: [...new Set([baseURL, externalURL, virtualWorkspaceURL])].join(" "),
    rootCa: hashOf(rootCa),
    keys: keys.verification
      .map(({ kid }) => kid)
      .sort()
      .join(" "),
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
