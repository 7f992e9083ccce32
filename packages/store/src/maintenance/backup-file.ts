import { StoreError, type StoreErrorCode } from "../store-error.ts";

/** Size of a backup's header, in bytes: one line of JSON, readable for humans. */
export const HEADER_BYTES = 1024;
const FORMAT = 1;
const MAGIC = '{"virtualWorkspacesBackup":';
/** Number of characters of an engine's name that always fit into a header. */
const NAME_LENGTH = 100;
/** Size of a record's prefix, in bytes: lengths of key and value, and the number of the lease. */
const PREFIX_BYTES = 12;

/** Metadata of a backup. */
export interface BackupInfo {
  /** Revision of the store that the backup shows. */
  readonly revision: number;
  /** Name of the store, cut to 100 characters. */
  readonly engine: string;
  /** Time of the backup, RFC 3339. */
  readonly time: string;
  /** Number of keys. */
  readonly count: number;
  /** Size of all records, in bytes. */
  readonly bytes: number;
}

export interface BackupHeader extends BackupInfo {
  /** Checksum of all records and the header, in hexadecimal. */
  readonly sha256: string;
}

/** Returns the part of a header that its checksum covers. */
export function headerText({ revision, engine, time, count, bytes }: BackupInfo): string {
  const text = JSON.stringify({ revision, engine: engine.slice(0, NAME_LENGTH), time, count, bytes });
  return `${MAGIC}${FORMAT},${text.slice(1)}`;
}

/** Encodes a header, padded with spaces to a full line. */
export function encodeHeader(header: BackupHeader): Buffer {
  const block = Buffer.alloc(HEADER_BYTES, " ");
  block.write(`${headerText(header).slice(0, -1)},"sha256":${JSON.stringify(header.sha256)}}`);
  block.write("\n", HEADER_BYTES - 1);
  return block;
}

/** @throws StoreError `Damaged` or `NewerFormat` */
export function decodeHeader(bytes: Buffer, file: string): BackupHeader {
  if (bytes.length > 0 && bytes.every((byte) => byte === 0))
    throw new StoreError("Damaged", `${file} is an unfinished backup: use another one`);
  const text = bytes.toString();
  if (!text.startsWith(MAGIC)) throw new StoreError("Damaged", `${file} is not a backup of a store: use another file`);
  const format = Number.parseInt(text.slice(MAGIC.length), 10);
  if (format > FORMAT)
    throw new StoreError(
      "NewerFormat",
      `${file} has the format ${format}; this version reads formats up to ${FORMAT}: ` +
        "restore it with the version that wrote it, or a newer one",
    );
  const header = format === FORMAT ? parsed(text) : undefined;
  if (header === undefined) throw damaged(file, "its header is unreadable");
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
  return new StoreError("Damaged", `the backup ${file} is damaged: ${how}: use another backup; nothing was restored`);
}

/** Record of a backup: a key, or a lease, which precedes the first of its keys. */
export type BackupRecord =
  | { readonly type: "entry"; readonly key: string; readonly value: Buffer; readonly lease: number | undefined }
  /** `remaining`: remaining time, in seconds. */
  | { readonly type: "lease"; readonly lease: number; readonly remaining: number };

/** Returns the parts of an encoded record. A lease has no key; numbers of leases start at 1. */
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

/** Decodes the records of a stream. @throws RangeError for an invalid or incomplete record */
export async function* decodeRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<BackupRecord, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = recordEnd(rest); end <= rest.length; end = recordEnd(rest)) {
      yield decodeRecord(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw new RangeError("the last record is incomplete");
}

/** Returns the end of the first record, past the end of the bytes if they do not include it. */
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
  ENOSPC: { code: "NoSpace", why: "the disk is full: free some space, or choose another disk" },
  EDQUOT: { code: "NoSpace", why: "the disk quota is used up: free some space, or choose another disk" },
  EROFS: { code: "ReadOnly", why: "the file system is read-only: choose another one" },
  EACCES: { code: "ReadOnly", why: "this user has no write permission: grant it, or choose another directory" },
  EPERM: { code: "ReadOnly", why: "this user has no write permission: grant it, or choose another directory" },
  ENOENT: { code: "Invalid", why: "its directory does not exist: create it" },
  ENOTDIR: { code: "Invalid", why: "its directory is a file: choose another one" },
  EISDIR: { code: "Invalid", why: "it is a directory: name a file" },
};

/** Writes a backup's file. Errors name the remedy. */
export async function writing<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const known = CODES[codeOf(error)];
    if (known === undefined) throw error;
    throw new StoreError(known.code, `cannot write the backup ${file}: ${known.why}`, { cause: error });
  }
}

/** Opens a backup's file. Errors name the remedy. */
export async function reading<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT")
      throw new StoreError("Invalid", `the backup ${file} does not exist: name another file`, { cause: error });
    if (code === "EISDIR")
      throw new StoreError("Invalid", `${file} is a directory: name the file of a backup`, { cause: error });
    if (code === "EACCES" || code === "EPERM")
      throw new StoreError("Invalid", `this user has no read permission for the backup ${file}: grant it`, {
        cause: error,
      });
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
