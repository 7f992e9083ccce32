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
  /** Whether every page is, rather than what is read first; given what its newest transaction is. */
  readonly isWhole: (meta: Meta, size: number) => boolean;
}

/** @throws StoreError `Damaged` or `NewerFormat` */
export function checkDataFile({ path, dir, isWhole }: FileCheck): Meta {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const meta = newest(file, dir);
    const missing = size < (meta.lastPage + 1) * meta.pageSize;
    const depth = missing || isWhole(meta, size) ? Number.POSITIVE_INFINITY : 1;
    new PageWalk({ file, size, meta, fail: (what) => damaged(dir, what) }).check(depth);
    return meta;
  } finally {
    closeSync(file);
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
