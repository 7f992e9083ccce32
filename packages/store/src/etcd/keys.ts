import type { Entry, KeyRange } from "../store.ts";
import type { KeyValue } from "./generated/rpc.ts";

/** A range as etcd has it. */
export interface Bounds {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Between keys of the store and keys of etcd, which begin with the prefix. */
export class Keys {
  readonly #prefix: Buffer;

  /** @param prefix with the slash at its end */
  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  encode(key: string): Buffer {
    return Buffer.concat([this.#prefix, Buffer.from(key)]);
  }

  /** What no key of the store stands at, though its permissions reach it. */
  get none(): Buffer {
    return this.#prefix;
  }

  bounds({ from, to }: KeyRange): Bounds {
    const bounds = { key: this.encode(from), rangeEnd: this.encode(to) };
    if (Buffer.compare(bounds.key, bounds.rangeEnd) < 0) return bounds;
    return { key: this.none, rangeEnd: after(this.none) }; // etcd reads an end before the beginning in ways of its own
  }

  decode(key: Buffer): string {
    return key.toString("utf8", this.#prefix.length);
  }

  entry({ key, value, createRevision, modRevision, lease }: KeyValue): Entry {
    const entry = { key: this.decode(key), value, createRevision, modRevision };
    return lease === "0" ? entry : { ...entry, lease };
  }
}

/** The first key after one, in etcd's order. */
export const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);
