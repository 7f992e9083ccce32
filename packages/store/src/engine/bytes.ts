/** Bytes: the first is for a few entries, the largest so large that the system gets it back as soon as it is free. */
const [FIRST, LARGEST] = [8 * 1024, 256 * 1024];

/** What takes more than this part of a slab has memory of its own. */
const PART = 1 / 8;

/** Gives memory for so many bytes. */
export type Take = (size: number) => Buffer;

/**
 * Memory for many values that are read together. Next to each other they cost their bytes; each with memory of its own, what
 * stays would lie strewn among what was read in passing, and a process would keep three times as much as it
 * needs. A slab is held as long as anybody holds a value in it: give what is kept alone memory of its own.
 */
export class Slabs {
  #slab: Buffer = Buffer.alloc(0);
  #used = 0;

  /** Uninitialised memory, as `Buffer.allocUnsafeSlow`. */
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

/** A copy in memory of its own: one that stays holds on to nothing that stood beside it. */
export function ownBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
