import { isDeepStrictEqual } from "node:util";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { type Mount, mountTypeOf } from "@virtual-workspaces/kcp";
import { exportedKey, Related } from "@virtual-workspaces/kcp/informers";
import type { MountType, NoTarget, ProxyTarget, RelatedObjects, Target } from "@virtual-workspaces/kcp/targets";
import type { Dial } from "@virtual-workspaces/transport";
import { none } from "../types/no-target.ts";
import { TargetContext } from "./target-context.ts";

/** What mounts are resolved by. */
export interface KnownMountsOptions {
  readonly types: ReadonlyMap<string, MountType>;
  /** By which the objects are read that mounts hang on. */
  readonly client: Client;
  readonly dial: Dial;
  /** What keeps a target from being asked, whichever type gives it. */
  readonly refuse: (target: ProxyTarget) => NoTarget | undefined;
  /** A mount leads elsewhere than it did, or is gone. */
  readonly changed: (key: ObjectKey) => void;
  /** A target could not be had for somebody who asked. */
  readonly failed: (key: ObjectKey, target: ProxyTarget) => void;
  readonly onError: (error: unknown) => void;
}

/** A mount as it is now. */
export interface KnownMount {
  readonly key: ObjectKey;
  readonly mount: Mount;
  readonly target: Target | NoTarget;
  /** Whether something that it hangs on has not been read yet, so that nothing is known of it but that. */
  readonly unread: boolean;
}

interface Entry extends KnownMount {
  /** Made when somebody asks. */
  context?: TargetContext;
}

/**
 * Where each mount leads, in memory: worked out when the mount or anything that it hangs on has changed, at once, so that the next
 * request already goes by it. Connections to a target are kept with it, and cut when it is another one: its address, a
 * Secret's content, whose identity is told. Memory: the mounts, what they name, and 100 KiB for each target that is asked.
 */
export class KnownMounts implements AsyncDisposable {
  readonly #options: KnownMountsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #related: Related;
  readonly #ending = new Set<Promise<void>>();

  constructor(options: KnownMountsOptions) {
    this.#options = options;
    const { client, onError } = options;
    this.#related = new Related({ client, onError, changed: (dependent) => this.#again(dependent) });
  }

  get(key: Pick<ObjectKey, "cluster" | "name">): KnownMount | undefined {
    return this.#entries.get(mountKey(key));
  }

  /** A mount is there, or is another one. */
  set(mount: Mount): void {
    const key = exportedKey(mount);
    const text = mountKey(key);
    const before = this.#entries.get(text);
    const { target, unread } = this.#resolved(text, mount);
    const isSame = before !== undefined && before.unread === unread && isDeepStrictEqual(before.target, target);
    if (!isSame) this.#end(before);
    const context = isSame ? before.context : undefined;
    // The same value, for who looks whether it still leads there.
    const kept = isSame ? before.target : target;
    this.#entries.set(text, { key, mount, target: kept, unread, ...(context && { context }) });
    if (!isSame) this.#options.changed(key);
  }

  delete(key: ObjectKey): void {
    const text = mountKey(key);
    this.#end(this.#entries.get(text));
    this.#entries.delete(text);
    this.#related.forget(text);
    this.#options.changed(key);
  }

  /** By what a mount's target is asked. @throws Error when it cannot be */
  contextOf({ key }: KnownMount, target: ProxyTarget): TargetContext {
    const entry = this.#entries.get(mountKey(key));
    if (entry === undefined || entry.target !== target) throw new Error(`${keyText(key)}: it leads elsewhere by now`);
    const { dial, failed } = this.#options;
    const onError = (error: unknown): void => {
      this.#options.onError(error);
      failed(key, target);
    };
    entry.context ??= new TargetContext({ target, dial, onError });
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
    const { types, onError, refuse } = this.#options;
    const type = types.get(mountTypeOf(mount));
    if (type === undefined) {
      this.#related.forget(text);
      const message = `spec.type: there is no mount type ${mountTypeOf(mount)} here, but ${[...types.keys()].join(", ")}`;
      return { target: none("Unknown", "TypeUnknown", message), unread: false };
    }
    try {
      let unread = false;
      const resolve = ({ get }: RelatedObjects): Target | NoTarget =>
        type.resolve(mount, {
          get: (reference) => {
            const object = get(reference);
            unread ||= object.state === "unknown";
            return object;
          },
        });
      const target = this.#related.reading(text, resolve);
      return {
        target: (target.kind === "proxy" && refuse(target)) || target,
        unread: unread && target.kind === "none",
      };
    } catch (error) {
      onError(error);
      const message = "the mount type has failed: whoever runs the view is told why";
      return { target: none("Unknown", "TypeFailed", message), unread: false };
    }
  }

  #end(entry: Entry | undefined): void {
    const ended = entry?.context?.[Symbol.asyncDispose]();
    const ending = ended?.finally(() => this.#ending.delete(ending as Promise<void>));
    if (ending !== undefined) this.#ending.add(ending);
  }
}

function mountKey({ cluster, name }: Pick<ObjectKey, "cluster" | "name">): string {
  return `${cluster}/${name}`;
}
