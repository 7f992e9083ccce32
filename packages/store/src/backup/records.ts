/** Before the key and the value of each record: their lengths, and the number of its lease. */
const PREFIX_BYTES = 12;

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
