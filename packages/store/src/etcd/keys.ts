import { StoreError } from "../store-error.ts";
import type { Entry, KeyRange } from "../store.ts";
import type { KeyValue } from "./generated/rpc.ts";

const LONGEST = 1024;

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

  /** @throws StoreError `Invalid` for one that is empty or no text, `TooLarge` */
  encode(key: string): Buffer {
    if (key === "" || !key.isWellFormed()) throw new StoreError("Invalid", `a key is text of at least one byte`);
    const bytes = this.#bound(key);
    if (bytes.length - this.#prefix.length > LONGEST)
      throw new StoreError("TooLarge", `a key has at most ${LONGEST} bytes, this has more: ${key.slice(0, 80)}...`);
    return bytes;
  }

  /** What no key of the store stands at, though its permissions reach it. */
  get none(): Buffer {
    return this.#prefix;
  }

  /** `undefined` for a range that can hold nothing. */
  bounds({ from, to }: KeyRange): Bounds | undefined {
    const bounds = { key: this.#bound(from), rangeEnd: this.#bound(to) };
    return Buffer.compare(bounds.key, bounds.rangeEnd) < 0 ? bounds : undefined;
  }

  decode(key: Buffer): string {
    return key.toString("utf8", this.#prefix.length);
  }

  entry({ key, value, createRevision, modRevision }: KeyValue): Entry {
    return { key: this.decode(key), value, createRevision, modRevision };
  }

  #bound(text: string): Buffer {
    return Buffer.concat([this.#prefix, Buffer.from(text)]);
  }
}

/** The first key after one, in etcd's order. */
export const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);
