import type { Encoded } from "@virtual-workspaces/framework/storage";

/** Compares two objects, each with its sort key. Equal only for the same object. */
export type Compare<Key> = (
  key: Key,
  object: Pick<Encoded, "key">,
  otherKey: Key,
  other: Pick<Encoded, "key">,
) => number;

interface Chunk<Key> {
  readonly keys: Key[];
  readonly objects: Encoded[];
}

/** Maximum number of objects in a chunk. A smaller one makes ranks slower, a larger one changes. */
const CHUNK = 512;

/**
 * Objects in a sort order, with their ranks: finds the object at a rank and the rank of an object in a few microseconds among
 * 100,000. Memory: two references and the sort key for each object.
 */
export class OrderedList<Key> {
  readonly #compare: Compare<Key>;
  #chunks: Chunk<Key>[] = [];
  /** Chunks that a copy uses too, so that a change copies them first. */
  #shared: WeakSet<Chunk<Key>> = new WeakSet();
  #size = 0;

  constructor(compare: Compare<Key>) {
    this.#compare = compare;
  }

  /** Number of objects. */
  get size(): number {
    return this.#size;
  }

  /** Adds an object behind all others. The caller knows the order. */
  append(key: Key, object: Encoded): void {
    const end = this.#chunks.length - 1;
    if (end < 0 || (this.#chunks[end] as Chunk<Key>).objects.length >= CHUNK)
      this.#chunks.push({ keys: [], objects: [] });
    const last = this.#own(this.#chunks.length - 1);
    last.keys.push(key);
    last.objects.push(object);
    this.#size += 1;
  }

  /** Adds an object. @returns its rank */
  insert(key: Key, object: Encoded): number {
    const at = this.#chunkOf(key, object);
    if (at === this.#chunks.length) {
      this.append(key, object);
      return this.#size - 1;
    }
    const chunk = this.#own(at);
    const place = this.#placeIn(chunk, key, object);
    const rank = this.#before(at) + place;
    chunk.keys.splice(place, 0, key);
    chunk.objects.splice(place, 0, object);
    this.#size += 1;
    if (chunk.objects.length > CHUNK) {
      const half = CHUNK >>> 1;
      this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), objects: chunk.objects.splice(half) });
    }
    return rank;
  }

  /** Removes an object. @returns its rank, or -1 if it is not there */
  remove(key: Key, object: Encoded): number {
    const at = this.#chunkOf(key, object);
    const found = this.#chunks[at];
    if (found === undefined) return -1;
    const place = this.#placeIn(found, key, object);
    const there = found.objects[place];
    if (there === undefined || this.#compare(found.keys[place] as Key, there, key, object) !== 0) return -1;
    const rank = this.#before(at) + place;
    const chunk = this.#own(at);
    chunk.keys.splice(place, 1);
    chunk.objects.splice(place, 1);
    if (chunk.objects.length === 0) this.#chunks.splice(at, 1);
    this.#size -= 1;
    return rank;
  }

  /** Returns the rank of the first object that sorts after this one, whether or not this one is in the list. */
  rankAfter(key: Key, object: Pick<Encoded, "key">): number {
    const at = this.#chunkOf(key, object);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return this.#size;
    const place = this.#placeIn(chunk, key, object);
    const there = chunk.objects[place];
    const isThere = there !== undefined && this.#compare(chunk.keys[place] as Key, there, key, object) === 0;
    return this.#before(at) + place + (isThere ? 1 : 0);
  }

  /** Returns up to `count` objects from a rank on. */
  slice(from: number, count: number): Encoded[] {
    const objects: Encoded[] = [];
    let skip = from;
    for (const chunk of this.#chunks) {
      if (objects.length >= count) break;
      if (skip >= chunk.objects.length) {
        skip -= chunk.objects.length;
        continue;
      }
      const part = chunk.objects.slice(skip, skip + count - objects.length);
      skip = 0;
      for (const object of part) objects.push(object);
    }
    return objects;
  }

  /** Returns a copy. It costs a reference for each chunk until either side changes. */
  clone(): OrderedList<Key> {
    const copy = new OrderedList<Key>(this.#compare);
    copy.#chunks = [...this.#chunks];
    copy.#size = this.#size;
    for (const chunk of this.#chunks) {
      this.#shared.add(chunk);
      copy.#shared.add(chunk);
    }
    return copy;
  }

  /** Returns the first chunk whose last object is not before the given one; the number of chunks if there is none. */
  #chunkOf(key: Key, object: Pick<Encoded, "key">): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { keys, objects } = this.#chunks[middle] as Chunk<Key>;
      const last = objects.length - 1;
      if (this.#compare(keys[last] as Key, objects[last] as Encoded, key, object) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placeIn({ keys, objects }: Chunk<Key>, key: Key, object: Pick<Encoded, "key">): number {
    let low = 0;
    let high = objects.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(keys[middle] as Key, objects[middle] as Encoded, key, object) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #before(at: number): number {
    let count = 0;
    for (let chunk = 0; chunk < at; chunk++) count += (this.#chunks[chunk] as Chunk<Key>).objects.length;
    return count;
  }

  /** Returns a chunk that only this list uses. */
  #own(at: number): Chunk<Key> {
    const chunk = this.#chunks[at] as Chunk<Key>;
    if (!this.#shared.has(chunk)) return chunk;
    const own = { keys: [...chunk.keys], objects: [...chunk.objects] };
    this.#chunks[at] = own;
    return own;
  }
}
