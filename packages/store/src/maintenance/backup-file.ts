import { StoreError, type StoreErrorCode } from "../store-error.ts";

/** Bytes at the beginning of a backup that hold its header: JSON in one line, so that people can read it. */
export const HEADER_BYTES = 1024;
const FORMAT = 1;
const MAGIC = '{"virtualWorkspacesBackup":';
/** Characters of an engine's name that fit into a header whatever they are. */
const NAME_LENGTH = 100;
/** Before the key and the value of each record: their lengths, and the number of its lease. */
const PREFIX_BYTES = 12;

/** What a backup says of itself. */
export interface BackupInfo {
  /** Everything in it stood together at this revision of the store. */
  readonly revision: number;
  /** The name of the store that it is from, cut to 100 characters. */
  readonly engine: string;
  /** When that was, RFC 3339. */
  readonly time: string;
  /** How many keys there are. */
  readonly count: number;
  /** The size of all records. */
  readonly bytes: number;
}

export interface BackupHeader extends BackupInfo {
  /** Of all records and of the header itself, in hex. */
  readonly sha256: string;
}

/** The part of a header that its checksum covers. */
export function headerText({ revision, engine, time, count, bytes }: BackupInfo): string {
  const text = JSON.stringify({ revision, engine: engine.slice(0, NAME_LENGTH), time, count, bytes });
  return `${MAGIC}${FORMAT},${text.slice(1)}`;
}

/** The first bytes of a backup: the header, spaces, the end of the line. */
export function encodeHeader(header: BackupHeader): Buffer {
  const block = Buffer.alloc(HEADER_BYTES, " ");
  block.write(`${headerText(header).slice(0, -1)},"sha256":${JSON.stringify(header.sha256)}}`);
  block.write("\n", HEADER_BYTES - 1);
  return block;
}

/** @throws StoreError `Damaged` or `NewerFormat` */
export function decodeHeader(bytes: Buffer, file: string): BackupHeader {
  if (bytes.length > 0 && bytes.every((byte) => byte === 0))
    throw new StoreError("Damaged", `${file} is a backup that was never finished: take another one`);
  const text = bytes.toString();
  if (!text.startsWith(MAGIC)) throw new StoreError("Damaged", `${file} is not a backup of a store`);
  const format = Number.parseInt(text.slice(MAGIC.length), 10);
  if (format > FORMAT)
    throw new StoreError(
      "NewerFormat",
      `${file} has format ${format}, and ${FORMAT} is the newest that this version reads: ` +
        "restore it with the version that wrote it, or a newer one",
    );
  const header = format === FORMAT ? parsed(text) : undefined;
  if (header === undefined) throw damaged(file, "its header cannot be read");
  return header;
}

function parsed(text: string): BackupHeader | undefined {
  let value: Partial<Record<keyof BackupHeader, unknown>>;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { revision, engine, time, count, bytes, sha256 } = value;
  if (!(isCount(revision) && isCount(count) && isCount(bytes))) return undefined;
  if (!(typeof engine === "string" && typeof time === "string" && typeof sha256 === "string")) return undefined;
  return { revision, engine, time, count, bytes, sha256 };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function damaged(file: string, how: string): StoreError {
  return new StoreError("Damaged", `the backup ${file} is damaged: ${how}. Nothing was restored; use another backup`);
}

/** A key of a backup, or one of its leases, which comes before the first key that goes with it. */
export type BackupRecord =
  | { readonly type: "entry"; readonly key: string; readonly value: Buffer; readonly lease: number | undefined }
  /** `remaining`: what was left of its time, s. */
  | { readonly type: "lease"; readonly lease: number; readonly remaining: number };

/** The pieces of a record, in order. A lease is a record without a key; numbers of leases begin at 1. */
export function encodeRecord(record: BackupRecord): [prefix: Buffer, value: Buffer] {
  const key = record.type === "entry" ? Buffer.from(record.key) : Buffer.alloc(0);
  const value = record.type === "entry" ? record.value : Buffer.alloc(8);
  if (record.type === "lease") value.writeDoubleBE(record.remaining);
  const prefix = Buffer.alloc(PREFIX_BYTES + key.length);
  prefix.writeUInt32BE(key.length, 0);
  prefix.writeUInt32BE(value.length, 4);
  prefix.writeUInt32BE(record.lease ?? 0, 8);
  key.copy(prefix, PREFIX_BYTES);
  return [prefix, value];
}

/** The records in a stream of bytes, which must end with one. @throws RangeError when it does not, or makes no sense */
export async function* decodeRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<BackupRecord, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = recordEnd(rest); end <= rest.length; end = recordEnd(rest)) {
      yield decodeRecord(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw new RangeError("the last record is not whole");
}

/** Where the first record ends; beyond the bytes when they do not say. */
function recordEnd(bytes: Buffer): number {
  if (bytes.length < PREFIX_BYTES) return PREFIX_BYTES;
  return PREFIX_BYTES + bytes.readUInt32BE(0) + bytes.readUInt32BE(4);
}

function decodeRecord(bytes: Buffer): BackupRecord {
  const keyEnd = PREFIX_BYTES + bytes.readUInt32BE(0);
  const lease = bytes.readUInt32BE(8);
  const value = bytes.subarray(keyEnd);
  if (keyEnd === PREFIX_BYTES) return { type: "lease", lease, remaining: value.readDoubleBE(0) };
  const key = bytes.toString("utf8", PREFIX_BYTES, keyEnd);
  return { type: "entry", key, value, lease: lease === 0 ? undefined : lease };
}

const CODES: Readonly<Record<string, { readonly code: StoreErrorCode; readonly why: string }>> = {
  ENOSPC: { code: "NoSpace", why: "the disk is full: make room, or write it elsewhere" },
  EDQUOT: { code: "NoSpace", why: "the quota of the disk is used up: make room, or write it elsewhere" },
  EROFS: { code: "ReadOnly", why: "the file system is read-only: write it elsewhere" },
  EACCES: { code: "ReadOnly", why: "this user must not write there: give it the right, or write it elsewhere" },
  EPERM: { code: "ReadOnly", why: "this user must not write there: give it the right, or write it elsewhere" },
  ENOENT: { code: "Invalid", why: "its folder does not exist: make it" },
  ENOTDIR: { code: "Invalid", why: "its folder is none: name another one" },
  EISDIR: { code: "Invalid", why: "it is a folder: name a file" },
};

/** Does something with a backup's file that is to be written; what fails is told with its remedy. */
export async function writing<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const known = CODES[codeOf(error)];
    if (known === undefined) throw error;
    throw new StoreError(known.code, `the backup ${file} cannot be written: ${known.why}`, { cause: error });
  }
}

/** Opens a backup's file; what fails is told with its remedy. */
export async function reading<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT")
      throw new StoreError("Invalid", `there is no backup ${file}: name another file`, { cause: error });
    if (code === "EISDIR")
      throw new StoreError("Invalid", `${file} is a folder: name a backup's file`, { cause: error });
    if (code === "EACCES" || code === "EPERM")
      throw new StoreError("Invalid", `this user must not read the backup ${file}: give it the right`, {
        cause: error,
      });
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
