import type { Entry } from "../store.ts";

/** What happened to a key, as an engine keeps it: the values are never handed out, and never change. */
export interface KeptEvent {
  readonly key: string;
  /** The key's {@link sortable} text. */
  readonly order: string;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

/** All that happened at one revision. */
export interface Change {
  readonly revision: number;
  readonly events: readonly KeptEvent[];
}

/** An entry for whoever asked, with a value of its own. */
export function handOut({ key, value, createRevision, modRevision, lease }: Entry): Entry {
  const own = ownBytes(value);
  return lease === undefined
    ? { key, value: own, createRevision, modRevision }
    : { key, value: own, createRevision, modRevision, lease };
}

/** A copy in memory of its own: one that stays holds on to nothing that stood beside it. */
export function ownBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
