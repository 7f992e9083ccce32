import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { StoreError } from "../store-error.ts";
import { damaged, newerFormat } from "./faults.ts";

// LMDB trusts its file: it follows page numbers blindly, and crashes the process if one is invalid. So this code checks the
// file before LMDB opens it.

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const META_FLAG = 0x08;
const META_BYTES = 192;

// Offsets in a meta page.
const PAGE_FLAGS = 18;
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE = 48;
const FREE_ROOT = 88;
const MAIN_ROOT = 136;
const LAST_PAGE = 144;
const TRANSACTION = 152;

const ATTEMPTS = 20;

/** Header of the newest transaction. */
export interface Meta {
  readonly pageSize: number;
  readonly transaction: number;
  readonly lastPage: number;
  readonly freeRoot: number;
  readonly mainRoot: number;
}

/** Options of a check. */
export interface FileCheck {
  readonly path: string;
  /** Directory of the store, for errors. */
  readonly dir: string;
  /** Number of levels below the roots of tables to check; all levels if pages are missing. Below 0: none. */
  readonly depth: (meta: Meta, size: number) => number;
}

/** Checks a file before it is opened. @throws StoreError `Damaged` or `NewerFormat` */
export function checkDataFile({ path, dir, depth }: FileCheck): Meta {
  const file = openSync(path, "r");
  try {
    const meta = newest(file, dir);
    const { size } = fstatSync(file);
    const missing = size < (meta.lastPage + 1) * meta.pageSize;
    new PageWalk({ file, size, meta, fail: (what) => damaged(dir, what) }).check(
      missing ? Number.POSITIVE_INFINITY : depth(meta, size),
    );
    return meta;
  } finally {
    closeSync(file);
  }
}

/** Checks a file while another process writes it. Pages may change between two reads, so only a fault that persists counts. */
export function checkSharedFile(check: Omit<FileCheck, "depth">): void {
  for (let attempt = 1; ; attempt++) {
    try {
      checkDataFile({ ...check, depth: () => -1 });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Both meta pages must be valid: otherwise the file is not what LMDB wrote. */
function newest(file: number, dir: string): Meta {
  const first = readMeta(file, 0, dir);
  const second = readMeta(file, first.pageSize, dir);
  if (second.pageSize !== first.pageSize) throw damaged(dir, "its two headers differ");
  return second.transaction > first.transaction ? second : first;
}

function readMeta(file: number, offset: number, dir: string): Meta {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, offset) < META_BYTES) throw damaged(dir, "its header is incomplete");
  if (bytes.readUInt32LE(MAGIC_AT) !== MAGIC || (bytes.readUInt16LE(PAGE_FLAGS) & META_FLAG) === 0) {
    throw damaged(dir, "its header is missing");
  }
  const version = bytes.readUInt16LE(VERSION_AT);
  if (version > VERSION) throw newerFormat(dir);
  const pageSize = bytes.readUInt32LE(PAGE_SIZE);
  const isPower = pageSize >= 512 && pageSize <= 65536 && (pageSize & (pageSize - 1)) === 0;
  if (version !== VERSION || !isPower) throw damaged(dir, "its header is invalid");
  return {
    pageSize,
    transaction: Number(bytes.readBigUInt64LE(TRANSACTION)),
    lastPage: Number(bytes.readBigUInt64LE(LAST_PAGE)),
    freeRoot: Number(bytes.readBigUInt64LE(FREE_ROOT)),
    mainRoot: Number(bytes.readBigUInt64LE(MAIN_ROOT)),
  };
}

const HEADER = 24;
const LOWER = 20;
const UPPER = 22;
const BRANCH = 0x01;
const LEAF = 0x02;
const DIRTY = 0x10;

const NODE_HEADER = 8;
const NODE_FLAGS = 4;
const KEY_SIZE = 6;
const BIG_DATA = 0x01;
const SUB_DATA = 0x02;
/** Offsets in the record of a table. */
const TABLE_BYTES = 48;
const TABLE_ROOT = 40;
const OVERFLOW_BYTES = 24;
const OVERFLOW_PAGES = 16;

/** Number of header pages at the start of the file. */
const HEADERS = 2;

/** Root of an empty table. */
const NO_PAGE = 2 ** 64;

/** Options of a page walk. */
interface WalkOptions {
  readonly file: number;
  /** Size of the file, in bytes. */
  readonly size: number;
  readonly meta: Meta;
  readonly fail: (what: string) => StoreError;
}

interface Walk {
  readonly depth: number;
  /** Whether keys sort as bytes. */
  readonly ordered: boolean;
}

/** Walks the pages of LMDB's file from their roots, as LMDB would, and validates each. */
class PageWalk {
  readonly #options: WalkOptions;
  /** Claimed pages, by number. */
  readonly #seen: Uint8Array;
  /** Roots of the tables in the main table. */
  readonly #tables: number[] = [];
  /** Current page. */
  readonly #bytes: Buffer;

  constructor(options: WalkOptions) {
    const { meta, size, fail } = options;
    // The file never had so many pages: do not allocate a mark for each.
    if (meta.lastPage > 2 * (size / meta.pageSize) + 2 ** 20) throw fail("it is truncated, or its header is invalid");
    this.#options = options;
    this.#seen = new Uint8Array(meta.lastPage + 1);
    this.#bytes = Buffer.alloc(meta.pageSize);
  }

  /** @param depth levels below a table's root to check @throws what `fail` returns */
  check(depth: number): void {
    const { freeRoot, mainRoot } = this.#options.meta;
    this.#seen.fill(1, 0, HEADERS);
    this.#table(freeRoot, { depth, ordered: false });
    this.#table(mainRoot, { depth, ordered: true });
    for (const root of this.#tables) this.#table(root, { depth, ordered: true });
  }

  #table(root: number, how: Walk): void {
    if (root >= NO_PAGE) return;
    let level = [root];
    for (let depth = 0; level.length > 0 && depth <= how.depth; depth++) {
      const below: number[] = [];
      for (const number of level) this.#page(number, how, below);
      level = below;
    }
  }

  #page(number: number, how: Walk, below: number[]): void {
    const page = this.#read(number);
    const kind = page.readUInt16LE(PAGE_FLAGS) & ~DIRTY;
    const [lower, upper] = [page.readUInt16LE(LOWER), page.readUInt16LE(UPPER)];
    const room = page.length - HEADER;
    if ((kind !== BRANCH && kind !== LEAF) || lower === 0 || lower % 2 !== 0 || lower > upper || upper > room) {
      throw this.#broken(number);
    }
    let before = { start: 0, end: 0 };
    for (let index = 0; index < lower; index += 2) {
      const offset = page.readUInt16LE(HEADER + index);
      if (offset < upper || offset + NODE_HEADER > room) throw this.#broken(number);
      const node = HEADER + offset;
      const key = { start: node + NODE_HEADER, end: node + NODE_HEADER + page.readUInt16LE(node + KEY_SIZE) };
      if (key.end > page.length) throw this.#broken(number);
      // The first key of a branch is empty and sorts before all others.
      const isFirst = index === 0 || (kind === BRANCH && index === 2);
      if (how.ordered && !isFirst && page.compare(page, key.start, key.end, before.start, before.end) >= 0) {
        throw this.#broken(number);
      }
      before = key;
      if (kind === BRANCH) below.push(page.readUIntLE(node, 6));
      else this.#leafNode(number, { node, data: key.end });
    }
  }

  #leafNode(number: number, { node, data }: { readonly node: number; readonly data: number }): void {
    const page = this.#bytes;
    const size = page.readUInt32LE(node);
    const flags = page.readUInt16LE(node + NODE_FLAGS);
    const inPage = (flags & BIG_DATA) !== 0 ? OVERFLOW_BYTES : size;
    if (flags > (BIG_DATA | SUB_DATA) || data + inPage > page.length) throw this.#broken(number);
    if ((flags & SUB_DATA) !== 0) {
      if (size !== TABLE_BYTES) throw this.#broken(number);
      this.#tables.push(Number(page.readBigUInt64LE(data + TABLE_ROOT)));
    }
    if ((flags & BIG_DATA) === 0) return;
    const first = Number(page.readBigUInt64LE(data));
    const pages = Number(page.readBigUInt64LE(data + OVERFLOW_PAGES));
    if (pages * page.length < size + HEADER) throw this.#broken(number);
    for (let at = first; at < first + pages; at++) this.#claim(at);
  }

  #read(number: number): Buffer {
    this.#claim(number);
    const page = this.#bytes;
    readSync(this.#options.file, page, 0, page.length, number * page.length);
    if (Number(page.readBigUInt64LE(0)) !== number) throw this.#broken(number);
    return page;
  }

  /** Claims a page, which must exist and belong to one parent only. */
  #claim(number: number): void {
    const { meta, size, fail } = this.#options;
    if (!(number <= meta.lastPage) || this.#seen[number] !== 0) throw this.#broken(number);
    if ((number + 1) * meta.pageSize > size) throw fail(`it is truncated: page ${number} is missing`);
    this.#seen[number] = 1;
  }

  #broken(number: number): StoreError {
    return this.#options.fail(`page ${number} is invalid`);
  }
}
