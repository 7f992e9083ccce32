import { crc32 } from "node:zlib";
import type { Entry } from "../store.ts";

/** A revision has at most as many changes as a transaction has operations. */
export const POSITIONS_PER_REVISION = 128;
/** Nowhere: what a key's first entry follows. */
export const NOWHERE: LogPosition = 0;
const HIGH = 2 ** 32;

// position, previous, createRevision, lease (8 each), length of the key (2), key, value, crc32 of all before (4, the least byte first)
const POSITION = 0;
const PREVIOUS = 8;
const CREATED = 16;
const LEASE = 24;
const KEY_LENGTH = 32;
const HEADER = 34;
const TRAILER = 4;
/** What crc32 makes of all bytes that end with their own crc32: so they need not be taken apart. */
const WHOLE = 0x2144df1c;

/** Where something stands in the log: a revision and a number within it, as one integer. Its eight bytes sort as it does. */
export type LogPosition = number;

export function logPosition(revision: number, index: number): LogPosition {
  return revision * POSITIONS_PER_REVISION + index;
}

export function revisionOf(position: LogPosition): number {
  return Math.floor(position / POSITIONS_PER_REVISION);
}

/** What happened to a key at a position: an entry of the log. */
export interface LogRecord {
  readonly position: LogPosition;
  readonly key: string;
  /** The key's entry before this one, `NOWHERE` when there was none. */
  readonly previous: LogPosition;
  /** 0: it was deleted. */
  readonly createRevision: number;
  /** 0: none. */
  readonly lease: number;
  /** Empty when it was deleted. */
  readonly value: Buffer;
}

/** The bytes of a record, but for what is known only when it comes to be. The value is copied. */
export function prepareRecord(key: string, value: Uint8Array | undefined): Buffer {
  const keyLength = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(HEADER + keyLength + (value?.byteLength ?? 0) + TRAILER);
  bytes.writeUInt16BE(keyLength, KEY_LENGTH);
  bytes.write(key, HEADER);
  if (value !== undefined) bytes.set(value, HEADER + keyLength);
  return bytes;
}

/** Completes the bytes. */
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

/** @returns `undefined` when these are not the bytes that were written for this position */
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

/** What a record says of the one before it, unchecked. */
export function previousOf(bytes: Buffer): LogPosition {
  return readInteger(bytes, PREVIOUS);
}

export function isDeleted(record: LogRecord): boolean {
  return record.createRevision === 0;
}

export function isLive(record: LogRecord | undefined): record is LogRecord {
  return record !== undefined && !isDeleted(record);
}

/** The entry that a record says stands there; its value is the record's. */
export function entryOf(record: LogRecord | undefined): Entry | undefined {
  if (!isLive(record)) return undefined;
  const { key, value, createRevision, lease } = record;
  const entry = { key, value, createRevision, modRevision: revisionOf(record.position) };
  return lease === 0 ? entry : { ...entry, lease: String(lease) };
}

function valueAt(bytes: Buffer): number {
  return HEADER + bytes.readUInt16BE(KEY_LENGTH);
}

/** Integers from 0 to 2^53 - 1 in eight bytes, the greatest byte first. */
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
