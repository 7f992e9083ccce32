import { crc32 } from "node:zlib";
import type { Entry } from "../store.ts";

/** Maximum number of changes in a revision, as many as operations in a transaction. */
export const POSITIONS_PER_REVISION = 128;
/** Predecessor of a key's first record. */
export const NOWHERE: LogPosition = 0;
const HIGH = 2 ** 32;

// position, previous, createRevision, lease (8 bytes each), length of the key (2), key, value, crc32 of all before (4,
// little-endian)
const POSITION = 0;
const PREVIOUS = 8;
const CREATED = 16;
const LEASE = 24;
const KEY_LENGTH = 32;
const HEADER = 34;
const TRAILER = 4;
/** crc32 of any bytes that end with their own crc32: no need to separate them. */
const WHOLE = 0x2144df1c;

/** Position in the log: a revision and an index in it, as one integer. Its eight bytes sort like the number. */
export type LogPosition = number;

export function logPosition(revision: number, index: number): LogPosition {
  return revision * POSITIONS_PER_REVISION + index;
}

export function revisionOf(position: LogPosition): number {
  return Math.floor(position / POSITIONS_PER_REVISION);
}

/** Record of the log: a change of a key at a position. */
export interface LogRecord {
  readonly position: LogPosition;
  readonly key: string;
  /** Previous record of the key, `NOWHERE` if there is none. */
  readonly previous: LogPosition;
  /** Revision of the key's creation; 0 for a deletion. */
  readonly createRevision: number;
  /** Number of the lease; 0 for none. */
  readonly lease: number;
  /** Value; empty for a deletion. */
  readonly value: Buffer;
}

/** Encodes a record with a copy of its value, without the fields that are known only at commit. */
export function prepareRecord(key: string, value: Uint8Array | undefined): Buffer {
  const keyLength = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(HEADER + keyLength + (value?.byteLength ?? 0) + TRAILER);
  bytes.writeUInt16BE(keyLength, KEY_LENGTH);
  bytes.write(key, HEADER);
  if (value !== undefined) bytes.set(value, HEADER + keyLength);
  return bytes;
}

/** Completes an encoded record. */
export function sealRecord(bytes: Buffer, content: Omit<LogRecord, "value">): LogRecord {
  writeInteger(bytes, content.position, POSITION);
  writeInteger(bytes, content.previous, PREVIOUS);
  writeInteger(bytes, content.createRevision, CREATED);
  writeInteger(bytes, content.lease, LEASE);
  const end = bytes.length - TRAILER;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end)), end);
  const { position, key, previous, createRevision, lease } = content;
  return { position, key, previous, createRevision, lease, value: bytes.subarray(valueAt(bytes), end) };
}

/** @returns `undefined` unless these bytes were written for this position */
export function decodeRecord(bytes: Buffer, position: LogPosition): LogRecord | undefined {
  if (bytes.length < HEADER + TRAILER || crc32(bytes) !== WHOLE || readInteger(bytes, POSITION) !== position)
    return undefined;
  const start = valueAt(bytes);
  return {
    position,
    key: bytes.toString("utf8", HEADER, start),
    previous: readInteger(bytes, PREVIOUS),
    createRevision: readInteger(bytes, CREATED),
    lease: readInteger(bytes, LEASE),
    value: bytes.subarray(start, bytes.length - TRAILER),
  };
}

/** Returns the previous position of a record, unverified. */
export function previousOf(bytes: Buffer): LogPosition {
  return readInteger(bytes, PREVIOUS);
}

export function isDeleted(record: LogRecord): boolean {
  return record.createRevision === 0;
}

export function isLive(record: LogRecord | undefined): record is LogRecord {
  return record !== undefined && !isDeleted(record);
}

/** Returns the entry of a record; they share the value. */
export function entryOf(record: LogRecord | undefined): Entry | undefined {
  if (!isLive(record)) return undefined;
  const { key, value, createRevision, lease } = record;
  const entry = { key, value, createRevision, modRevision: revisionOf(record.position) };
  return lease === 0 ? entry : { ...entry, lease: String(lease) };
}

function valueAt(bytes: Buffer): number {
  return HEADER + bytes.readUInt16BE(KEY_LENGTH);
}

/** Writes an integer from 0 to 2^53 - 1 as eight bytes, big-endian. */
export function writeInteger(into: Buffer, value: number, offset: number): void {
  into.writeUInt32BE(Math.floor(value / HIGH), offset);
  into.writeUInt32BE(value % HIGH, offset + 4);
}

export function readInteger(from: Buffer, offset: number): number {
  return from.readUInt32BE(offset) * HIGH + from.readUInt32BE(offset + 4);
}

export function integerKey(value: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeInteger(key, value, 0);
  return key;
}
