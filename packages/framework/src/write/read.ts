import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded, isEncoded } from "../encoded.ts";
import type { RequestOptions, Scope, Storage } from "../storage.ts";

/** An object as a storage keeps it, read anew as often as one likes. */
export interface Kept {
  readonly stored: Encoded | KubeObject;
  /** A copy of its own. */
  readonly copy: () => KubeObject;
}

/** What is to be read. */
export interface Reading {
  readonly scope: Scope;
  readonly key: ObjectKey;
  /** Whether it must be no staler than the source: after somebody else's write came in between. */
  readonly fresh: boolean;
}

/** What is there now, from the storage itself, or from its cache where it keeps one. */
export async function readKept(storage: Storage, at: Reading, options: RequestOptions): Promise<Kept | undefined> {
  const stored =
    storage.get === undefined ? await fromCache(storage, at, options) : await storage.get(at.scope, at.key, options);
  if (stored === undefined) return undefined;
  return { stored, copy: () => (isEncoded(stored) ? decodeObject(stored) : structuredClone(stored)) };
}

async function fromCache(
  storage: Storage,
  { scope, key, fresh }: Reading,
  options: RequestOptions,
): Promise<Encoded | undefined> {
  const lease = await storage.cache?.(scope);
  try {
    if (fresh) await lease?.confirm(options);
    return lease?.cache.get(key);
  } finally {
    lease?.[Symbol.dispose]();
  }
}
