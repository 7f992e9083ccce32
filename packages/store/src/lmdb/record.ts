import { crc32 } from "node:zlib";
import type { Entry } from "../store.ts";
import { type Place, readInteger, revisionOf, writeInteger } from "./place.ts";

/** What happened to a key at a place: an entry of the log. */
export interface LogRecord {
  readonly place: Place;
  readonly key: string;
  /** The key's entry before this one, `NOWHERE` when there was none. */
  readonly previous: Place;
  /** 0: it was deleted. */
  readonly createRevision: number;
  /** 0: none. */
  readonly lease: number;
  /** Empty when it was deleted. */
  readonly value: Buffer;
}

// crc32 of what follows (4), length of the key (2), nothing yet (2), place, previous, createRevision, lease (8 each), key, value
const KEY_LENGTH = 4;
const PLACE = 8;
const PREVIOUS = 16;
const CREATED = 24;
const LEASE = 32;
const HEADER = 40;

/** The bytes of a record, but for what is known only when it comes to be. The value is copied. */
export function prepareRecord(key: string, value: Uint8Array | undefined): Buffer {
  const keyLength = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(HEADER + keyLength + (value?.byteLength ?? 0));
  bytes.writeUInt32BE(keyLength * 2 ** 16, KEY_LENGTH);
  bytes.write(key, HEADER);
  if (value !== undefined) bytes.set(value, HEADER + keyLength);
  return bytes;
}

/** Completes the bytes. */
export function sealRecord(bytes: Buffer, content: Omit<LogRecord, "value">): LogRecord {
  writeInteger(bytes, content.place, PLACE);
  writeInteger(bytes, content.previous, PREVIOUS);
  writeInteger(bytes, content.createRevision, CREATED);
  writeInteger(bytes, content.lease, LEASE);
  bytes.writeUInt32BE(crc32(bytes.subarray(KEY_LENGTH)), 0);
  return { ...content, value: valueIn(bytes) };
}

/** @returns `undefined` when these are not the bytes that were written for this place */
export function decodeRecord(bytes: Buffer, place: Place): LogRecord | undefined {
  if (bytes.length < HEADER || crc32(bytes.subarray(KEY_LENGTH)) !== bytes.readUInt32BE(0)) return undefined;
  if (readInteger(bytes, PLACE) !== place) return undefined;
  const value = valueIn(bytes);
  return {
    place,
    key: bytes.toString("utf8", HEADER, bytes.length - value.length),
    previous: readInteger(bytes, PREVIOUS),
    createRevision: readInteger(bytes, CREATED),
    lease: readInteger(bytes, LEASE),
    value,
  };
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
  const entry = { key, value, createRevision, modRevision: revisionOf(record.place) };
  return lease === 0 ? entry : { ...entry, lease: String(lease) };
}

function valueIn(bytes: Buffer): Buffer {
  return bytes.subarray(HEADER + bytes.readUInt16BE(KEY_LENGTH));
}
