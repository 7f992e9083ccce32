import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@virtual-workspaces/framework/server";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { isStoreError, type Lease, type Store, StoreError } from "@virtual-workspaces/store";
import type { ShardUrls } from "../shard-urls.ts";
import type { ServiceAccountKeys } from "../tokens/keys.ts";

/** What processes that serve one shard must have alike: each writes it into objects, or signs by it. */
export interface ReplicaSettings {
  readonly urls: ShardUrls;
  /** PEM by which clients trust the server. */
  readonly rootCa: string;
  readonly keys: ServiceAccountKeys;
}

export interface ReplicasOptions {
  readonly store: Store;
  readonly shard: string;
  /** Tells this process from the others, and is the same when it starts again. */
  readonly instance: string;
  readonly alike: ReplicaSettings;
  readonly log: Log;
}

/** Another process serves the shard, and makes something else of it: whoever starts is to end. */
export class ReplicaMismatch extends StoreError {
  constructor(message: string) {
    super("Locked", message);
  }
}

/** How long a process that was killed counts, s. */
const TTL = 5;
/** How long one that starts waits for others that differ to be gone, ms: somebody may have been killed. */
const PATIENCE = (TTL + 3) * 1000;

const REMEDIES: Readonly<Record<string, string>> = {
  urls: "give all the same --shard-base-url, where a balancer hands on to each",
  rootCa: "give all the same --tls-cert-file, or a --root-ca-file with what clients trust all of them by",
  keys: "give all the same --service-account-signing-key-file, or each the others' keys by --service-account-key-file",
};

/** A further shard is not where the flags say that the server is. */
const FURTHER =
  "give all the same --external-hostname and --secure-port, where a balancer hands on the port of each shard, or run one process";

/**
 * The other processes that serve a shard from the same store. Controllers of all of them are at work, which is harmless as
 * long as they make the same of everything: so one that would not does not start. Each keeps a record in the store, which goes
 * with it.
 */
export class Replicas implements AsyncDisposable {
  readonly #options: ReplicasOptions;
  readonly #stop = new AbortController();
  #lease: Lease | undefined;
  #running: Promise<void> | undefined;

  private constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** @throws Unlike when a process is there that differs, naming in what and the remedy, and what the store throws */
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
    // A store that is away forgets it by itself.
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
      if (!told) log({ level: "warn", message: `waiting for it to go: ${message}` });
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
          log({ level: "warn", message: "other processes do not know of this one", error: String(cause) }),
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
