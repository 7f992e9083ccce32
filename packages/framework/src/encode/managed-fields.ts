import { scanManagedFields } from "./scan-metadata.ts";

/**
 * Cuts `metadata.managedFields` out of the bytes of objects. Positions are found once for each object, and kept as long as its
 * bytes; no second copy of an object is kept.
 */
export class ManagedFieldsCuts {
  readonly #found = new WeakMap<Buffer, readonly number[]>();

  /** Returns the JSON of an object without `metadata.managedFields`: the same bytes if it has none. */
  without(bytes: Buffer): Buffer {
    let cuts = this.#found.get(bytes);
    if (cuts === undefined) {
      cuts = scanManagedFields(bytes);
      this.#found.set(bytes, cuts);
    }
    if (cuts.length === 0) return bytes;
    const kept: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < cuts.length; at += 2) {
      kept.push(bytes.subarray(from, cuts[at]));
      from = cuts[at + 1] as number;
    }
    kept.push(bytes.subarray(from));
    return Buffer.concat(kept);
  }
}
