import { cloneJson, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded, isEncoded } from "../watch/cache/encoded.ts";
import type { RequestOptions, Scope, Storage } from "../storage.ts";

/** An object as a storage keeps it. Bytes are parsed once: a clone takes a third of the time. */
export class Kept {
  readonly stored: Encoded | KubeObject;
  #object: KubeObject | undefined;

  constructor(stored: Encoded | KubeObject) {
    this.stored = stored;
  }

  /** What it is, for whoever does not change it. */
  get object(): KubeObject {
    this.#object ??= isEncoded(this.stored) ? decodeObject(this.stored) : structuredClone(this.stored);
    return this.#object;
  }

  /** A copy of its own for each. */
  copy(): KubeObject {
    return isEncoded(this.stored) ? cloneJson(this.object) : structuredClone(this.stored);
  }
}

/** What is to be read. */
export interface Reading {
  readonly scope: Scope;
  readonly key: ObjectKey;
}

/** What is there now, no staler than the source, from the storage itself, or from its cache where it keeps one. */
export async function readKept(storage: Storage, at: Reading, options: RequestOptions): Promise<Kept | undefined> {
  const stored =
    storage.get === undefined ? await fromCache(storage, at, options) : await storage.get(at.scope, at.key, options);
  return stored === undefined ? undefined : new Kept(stored);
}

async function fromCache(
  storage: Storage,
  { scope, key }: Reading,
  options: RequestOptions,
): Promise<Encoded | undefined> {
  const lease = await storage.cache?.(scope);
  try {
    await lease?.confirm(options);
    const found = lease?.cache.get(key);
    if (found === undefined) lease?.checkAbsent?.();
    return found;
  } finally {
    lease?.[Symbol.dispose]();
  }
}
