import { readSync } from "node:fs";
import type { StoreError } from "../store-error.ts";
import type { Meta } from "./data-file.ts";

const HEADER = 24;
const FLAGS = 18;
const LOWER = 20;
const UPPER = 22;
const BRANCH = 0x01;
const LEAF = 0x02;

const NODE_HEADER = 8;
const BIG_DATA = 0x01;
const SUB_DATA = 0x02;
/** Of a table's record: its root. */
const TABLE_BYTES = 48;
const TABLE_ROOT = 40;
const OVERFLOW_BYTES = 24;
const OVERFLOW_PAGES = 16;

/** The root of a table without a page. */
const NO_PAGE = 2 ** 64;

/** What is walked. */
export interface WalkOptions {
  readonly file: number;
  /** Bytes. */
  readonly size: number;
  readonly meta: Meta;
  readonly fail: (what: string) => StoreError;
}

/** Follows the pages of lmdb's file from their roots, as lmdb would, and believes none of them. */
export class PageWalk {
  readonly #options: WalkOptions;
  readonly #seen: Uint8Array;

  constructor(options: WalkOptions) {
    const { meta, size, fail } = options;
    // More pages than the file could ever have had: no reason to make room for a mark on each.
    if (meta.lastPage > 2 * (size / meta.pageSize) + 2 ** 20) throw fail("it is cut off, or its header makes no sense");
    this.#options = options;
    this.#seen = new Uint8Array(meta.lastPage + 1);
  }

  /** @param depth how many pages below a table's root are looked at @throws what `fail` makes */
  check(depth: number): void {
    const { freeRoot, mainRoot } = this.#options.meta;
    this.#seen.fill(1, 0, 2);
    this.#tree(freeRoot, { depth, ordered: false });
    this.#tree(mainRoot, { depth, ordered: true });
  }

  #tree(root: number, how: { readonly depth: number; readonly ordered: boolean }): void {
    if (root >= NO_PAGE) return;
    let level = [root];
    for (let depth = 0; level.length > 0 && depth <= how.depth; depth++) {
      const next: number[] = [];
      for (const number of level) this.#page(number, how, next);
      level = next;
    }
  }

  #page(number: number, how: { readonly depth: number; readonly ordered: boolean }, below: number[]): void {
    const page = this.#read(number);
    const flags = page.readUInt16LE(FLAGS);
    const [lower, upper] = [page.readUInt16LE(LOWER), page.readUInt16LE(UPPER)];
    const room = page.length - HEADER;
    const isBranch = (flags & BRANCH) !== 0;
    const kind = flags & 0xff & ~0x10;
    if ((kind !== BRANCH && kind !== LEAF) || lower === 0 || lower % 2 !== 0 || lower > upper || upper > room)
      throw this.#broken(number);
    let before: Buffer | undefined;
    for (let index = 0; index < lower; index += 2) {
      const at = page.readUInt16LE(HEADER + index);
      if (at < upper || at + NODE_HEADER > room) throw this.#broken(number);
      const node = page.subarray(HEADER + at);
      const keyEnd = NODE_HEADER + node.readUInt16LE(6);
      if (keyEnd > node.length) throw this.#broken(number);
      const key = node.subarray(NODE_HEADER, keyEnd);
      if (how.ordered && before !== undefined && !(isBranch && index === 2) && Buffer.compare(before, key) >= 0)
        throw this.#broken(number);
      before = key;
      if (isBranch) below.push(node.readUIntLE(0, 6));
      else this.#leafNode(number, node, { keyEnd, depth: how.depth });
    }
  }

  #leafNode(
    number: number,
    node: Buffer,
    { keyEnd, depth }: { readonly keyEnd: number; readonly depth: number },
  ): void {
    const size = node.readUInt32LE(0);
    const flags = node.readUInt16LE(4);
    const inPage = (flags & BIG_DATA) !== 0 ? OVERFLOW_BYTES : size;
    if (flags > 3 || keyEnd + inPage > node.length) throw this.#broken(number);
    if ((flags & SUB_DATA) !== 0) {
      if (size !== TABLE_BYTES) throw this.#broken(number);
      this.#tree(Number(node.readBigUInt64LE(keyEnd + TABLE_ROOT)), { depth, ordered: true });
    }
    if ((flags & BIG_DATA) === 0) return;
    const first = Number(node.readBigUInt64LE(keyEnd));
    const pages = Number(node.readBigUInt64LE(keyEnd + OVERFLOW_PAGES));
    if (pages * this.#options.meta.pageSize < size + HEADER) throw this.#broken(number);
    for (let page = first; page < first + pages; page++) this.#claim(page);
  }

  #read(number: number): Buffer {
    this.#claim(number);
    const { file, meta } = this.#options;
    const page = Buffer.allocUnsafe(meta.pageSize);
    readSync(file, page, 0, meta.pageSize, number * meta.pageSize);
    if (Number(page.readBigUInt64LE(0)) !== number) throw this.#broken(number);
    return page;
  }

  /** A page is there, and belongs to one only. */
  #claim(number: number): void {
    const { meta, size, fail } = this.#options;
    if (!(number <= meta.lastPage) || this.#seen[number] !== 0) throw this.#broken(number);
    if ((number + 1) * meta.pageSize > size) throw fail(`it is cut off: page ${number} is missing`);
    this.#seen[number] = 1;
  }

  #broken(number: number): StoreError {
    return this.#options.fail(`page ${number} makes no sense`);
  }
}
