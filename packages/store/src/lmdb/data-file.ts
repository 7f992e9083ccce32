import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { damaged, newerFormat } from "./faults.ts";
import { PageWalk } from "./page-walk.ts";

// lmdb trusts its file: it reads where a page tells it to, and the process dies when that is nowhere. So the file is
// looked at before lmdb sees it.

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const META_FLAG = 0x08;
const META_BYTES = 192;

// Offsets in a page of meta data.
const FLAGS = 18;
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE = 48;
const FREE_ROOT = 88;
const MAIN_ROOT = 136;
const LAST_PAGE = 144;
const TRANSACTION = 152;

const ATTEMPTS = 20;

/** What the newest transaction left. */
export interface Meta {
  readonly pageSize: number;
  readonly transaction: number;
  readonly lastPage: number;
  readonly freeRoot: number;
  readonly mainRoot: number;
}

/** How much of the file is looked at. */
export interface FileCheck {
  readonly path: string;
  /** The store's, for errors. */
  readonly dir: string;
  /** How many levels below the roots of tables, unless pages are missing: then all. Below 0: none. */
  readonly depth: (meta: Meta, size: number) => number;
}

/** @throws StoreError `Damaged` or `NewerFormat` */
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

/** The same beside a process that writes, and so may change a page between two looks: what is wrong must stay wrong. */
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

/** Both pages of meta data must be whole: one that is not says that the file is not what was written. */
function newest(file: number, dir: string): Meta {
  const first = readMeta(file, 0, dir);
  const second = readMeta(file, first.pageSize, dir);
  if (second.pageSize !== first.pageSize) throw damaged(dir, "its two headers disagree");
  return second.transaction > first.transaction ? second : first;
}

function readMeta(file: number, offset: number, dir: string): Meta {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, offset) < META_BYTES) throw damaged(dir, "its header is cut off");
  if (bytes.readUInt32LE(MAGIC_AT) !== MAGIC || (bytes.readUInt16LE(FLAGS) & META_FLAG) === 0) {
    throw damaged(dir, "its header is not one");
  }
  const version = bytes.readUInt16LE(VERSION_AT);
  if (version > VERSION) throw newerFormat(dir);
  const pageSize = bytes.readUInt32LE(PAGE_SIZE);
  const isPower = pageSize >= 512 && pageSize <= 65536 && (pageSize & (pageSize - 1)) === 0;
  if (version !== VERSION || !isPower) throw damaged(dir, "its header makes no sense");
  return {
    pageSize,
    transaction: Number(bytes.readBigUInt64LE(TRANSACTION)),
    lastPage: Number(bytes.readBigUInt64LE(LAST_PAGE)),
    freeRoot: Number(bytes.readBigUInt64LE(FREE_ROOT)),
    mainRoot: Number(bytes.readBigUInt64LE(MAIN_ROOT)),
  };
}
