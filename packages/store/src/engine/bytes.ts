/** Slab sizes, in bytes: the first fits a few entries; the largest is so large that the system reclaims it as soon as it is free. */
const [FIRST, LARGEST] = [8 * 1024, 256 * 1024];

/** Values above this fraction of a slab get memory of their own. */
const PART = 1 / 8;

/** Allocates a number of bytes. */
export type Take = (size: number) => Buffer;

/**
 * Allocator for many values that are read together. Slabs keep them adjacent: with separate allocations, the values that stay
 * would be scattered among temporary ones, and the process would retain three times as much memory. A slab stays in memory
 * while any value in it does, so copy a value that is kept alone.
 */
export class Slabs {
  #slab: Buffer = Buffer.alloc(0);
  #used = 0;

  /** Returns uninitialized memory, like `Buffer.allocUnsafeSlow`. */
  readonly take: Take = (size) => {
    if (size > LARGEST * PART) return Buffer.allocUnsafeSlow(size);
    if (this.#used + size > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(Math.min(this.#slab.length * 4, LARGEST), FIRST, size));
      this.#used = 0;
    }
    const taken = this.#slab.subarray(this.#used, this.#used + size);
    this.#used += size;
    return taken;
  };
}

/** Copies bytes into memory of their own, so that a value that is kept does not retain a slab. */
export function ownBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
