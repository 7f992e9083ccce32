import { isDeepStrictEqual } from "node:util";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { type Mount, mountTypeOf } from "@virtual-workspaces/kcp";
import { exportedKey, Related } from "@virtual-workspaces/kcp/informers";
import type { MountType, NoTarget, ProxyTarget, RelatedObjects, Target } from "@virtual-workspaces/kcp/targets";
import type { Dial } from "@virtual-workspaces/transport";
import { none } from "../types/no-target.ts";
import { chainProblem } from "./mount-chain.ts";
import { TargetContext } from "./target-context.ts";

/** Options of {@link KnownMounts}. */
export interface KnownMountsOptions {
  readonly types: ReadonlyMap<string, MountType>;
  /** Client for the shard of the mounts. */
  readonly client: Client;
  /** Client for the logical clusters of all shards, by name or path, to which mounts may lead. */
  readonly everywhere: Client;
  readonly dial: Dial;
  /** Returns why a target is not allowed, for any mount type. */
  readonly refuse: (target: ProxyTarget) => NoTarget | undefined;
  /** Returns the path of a URL of this server, on any of its shards; `undefined` for other servers. */
  readonly pathOf: (url: string) => string | undefined;
  /** Called when the target of a mount changes, or the mount is deleted. */
  readonly changed: (key: ObjectKey) => void;
  /** Called when a request to a target fails. */
  readonly failed: (key: ObjectKey, target: ProxyTarget) => void;
  readonly onError: (error: unknown) => void;
}

/** Key of a mount: the name of its logical cluster and its own. */
export type MountKey = Pick<ObjectKey, "cluster" | "name">;

/** Current state of a mount. */
export interface KnownMount {
  readonly key: ObjectKey;
  readonly mount: Mount;
  readonly target: Target | NoTarget;
  /** Whether an object that the mount depends on has not been read yet, so that the target is not known. */
  readonly unread: boolean;
}

interface Entry extends KnownMount {
  /** Created for the first request. */
  context?: TargetContext;
}

/**
 * Targets of all mounts, in memory. A change of a mount or of an object that it depends on applies at once, before the next
 * request. Connections belong to a target, and are closed when its address, credential or identity changes. Memory: the mounts, the
 * objects that they name, and 100 KiB for each target in use.
 */
export class KnownMounts implements AsyncDisposable {
  readonly #options: KnownMountsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #related: Related;
  /** Logical clusters with mounts, and the number of these. */
  readonly #clusters = new Map<string, number>();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: KnownMountsOptions) {
    this.#options = options;
    const { client, everywhere, onError } = options;
    this.#related = new Related({
      client: everywhere,
      shard: { client, has: (cluster) => this.#clusters.has(cluster) },
      changed: (dependent) => this.#again(dependent),
      onError,
    });
  }

  get(key: MountKey): KnownMount | undefined {
    return this.#entries.get(mountKey(key));
  }

  /** Adds or updates a mount. */
  set(mount: Mount): void {
    const key = exportedKey(mount);
    const text = mountKey(key);
    const before = this.#entries.get(text);
    if (before === undefined) this.#clusters.set(key.cluster, (this.#clusters.get(key.cluster) ?? 0) + 1);
    const { target, unread } = this.#resolved(text, mount);
    const isSame = before !== undefined && before.unread === unread && isDeepStrictEqual(before.target, target);
    if (!isSame) this.#end(before);
    const context = isSame ? before.context : undefined;
    // The same object, for comparisons by identity.
    const kept = isSame ? before.target : target;
    this.#entries.set(text, { key, mount, target: kept, unread, ...(context && { context }) });
    if (!isSame) this.#options.changed(key);
  }

  delete(key: ObjectKey): void {
    const text = mountKey(key);
    this.#end(this.#entries.get(text));
    if (this.#entries.delete(text)) {
      const others = (this.#clusters.get(key.cluster) ?? 0) - 1;
      if (others > 0) this.#clusters.set(key.cluster, others);
      else this.#clusters.delete(key.cluster);
    }
    this.#related.forget(text);
    this.#options.changed(key);
  }

  /** Resolves all mounts again, after a change of this server's URLs. */
  resolveAll(): void {
    for (const { mount } of [...this.#entries.values()]) this.set(mount);
  }

  /** Returns the context for requests to a mount's target. @throws Error on an unusable target */
  contextOf({ key }: KnownMount, target: ProxyTarget): TargetContext {
    const entry = this.#entries.get(mountKey(key));
    if (entry === undefined || entry.target !== target)
      throw new Error(`${keyText(key)}: the target has changed meanwhile: try again`);
    const { dial, failed, onError } = this.#options;
    entry.context ??= new TargetContext({
      target,
      dial,
      onError: (error) => onError(mountError(key, "a request has failed", error)),
      failed: () => failed(key, target),
    });
    return entry.context;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const entry of this.#entries.values()) this.#end(entry);
    this.#entries.clear();
    await Promise.all([this.#related[Symbol.asyncDispose](), ...this.#ending]);
  }

  #again(text: string): void {
    const entry = this.#entries.get(text);
    if (entry !== undefined) this.set(entry.mount);
  }

  #resolved(text: string, mount: Mount): Pick<KnownMount, "target" | "unread"> {
    const { types, onError, refuse, pathOf } = this.#options;
    const type = types.get(mountTypeOf(mount));
    if (type === undefined) {
      this.#related.forget(text);
      const message = `spec.type: unknown mount type ${mountTypeOf(mount)}: use one of ${[...types.keys()].join(", ")}`;
      return { target: none("Unknown", "TypeUnknown", message), unread: false };
    }
    try {
      let unread = false;
      const resolve = ({ get }: RelatedObjects): Target | NoTarget => {
        const related: RelatedObjects = {
          get: (reference) => {
            const object = get(reference);
            unread ||= object.state === "unknown";
            return object;
          },
        };
        const own = type.resolve(mount, related);
        const found = (own.kind === "proxy" && refuse(own)) || own;
        const problem = chainProblem(mount, found, { types, related, pathOf });
        return problem !== undefined && (found.kind !== "none" || problem.reason === "Cycle") ? problem : found;
      };
      const target = this.#related.reading(text, resolve);
      return { target, unread: unread && target.kind === "none" };
    } catch (error) {
      onError(error);
      const message = "the mount type failed: see the log of the server";
      return { target: none("Unknown", "TypeFailed", message), unread: false };
    }
  }

  #end(entry: Entry | undefined): void {
    const ended = entry?.context?.[Symbol.asyncDispose]();
    const ending = ended?.finally(() => this.#ending.delete(ending as Promise<void>));
    if (ending !== undefined) this.#ending.add(ending);
  }
}

/** Returns an error for the log. It names the mount: the log has nothing else that does. */
export function mountError(key: MountKey, what: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Mount ${mountKey(key)}: ${what}: ${why}`, { cause });
}

/** Returns the key as text. */
export function mountKey({ cluster, name }: MountKey): string {
  return `${cluster}/${name}`;
}
