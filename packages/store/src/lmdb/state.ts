import { crc32 } from "node:zlib";
import { type Place, readInteger, writeInteger } from "./place.ts";

/** What holds for the whole store; written with every group of changes. */
export interface State {
  /** The newest. */
  readonly revision: number;
  /** Below this one the history is gone. */
  readonly compacted: number;
  /** Up to here compaction has been through the log. */
  readonly swept: Place;
  /** The newest lease's number. */
  readonly lease: number;
}

export const FIRST: State = { revision: 1, compacted: 0, swept: 0, lease: 0 };

const FIELDS = ["revision", "compacted", "swept", "lease"] as const;
const SIZE = 4 + 8 * FIELDS.length;

export function encodeState(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(SIZE);
  FIELDS.forEach((field, index) => {
    writeInteger(bytes, state[field], 4 + 8 * index);
  });
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** @returns `undefined` when these are not bytes that were written so */
export function decodeState(bytes: Buffer | undefined): State | undefined {
  if (bytes?.length !== SIZE || crc32(bytes.subarray(4)) !== bytes.readUInt32BE(0)) return undefined;
  const [revision = 0, compacted = 0, swept = 0, lease = 0] = FIELDS.map((_, index) =>
    readInteger(bytes, 4 + 8 * index),
  );
  return { revision, compacted, swept, lease };
}
