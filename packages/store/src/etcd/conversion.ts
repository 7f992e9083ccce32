import { checkTransaction } from "../engine/limits.ts";
import type { Condition, Entry, KeyRange, Operation, Outcome, StoreEvent, Transaction } from "../store.ts";
import {
  type Compare,
  type Event,
  type KeyValue,
  RequestOp,
  type TxnRequest,
  type TxnResponse,
} from "./generated/rpc.ts";

const DELETE = 1;
/** Approximate memory of an event in addition to its bytes. */
const OVERHEAD = 512;
const EQUAL = 0;
const MOD = 2;

/** Range in etcd's terms. */
export interface Bounds {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Converts between keys of the store and keys of etcd, which have the prefix. */
export class EtcdKeys {
  readonly #prefix: Buffer;

  /** @param prefix with a trailing slash */
  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  encode(key: string): Buffer {
    return Buffer.concat([this.#prefix, Buffer.from(key)]);
  }

  /** Key within the permissions of the prefix that never holds an entry. */
  get none(): Buffer {
    return this.#prefix;
  }

  bounds({ from, to }: KeyRange): Bounds {
    const bounds = { key: this.encode(from), rangeEnd: this.encode(to) };
    if (Buffer.compare(bounds.key, bounds.rangeEnd) < 0) return bounds;
    return { key: this.none, rangeEnd: after(this.none) }; // etcd does not treat an end before the start as an empty range
  }

  decode(key: Buffer): string {
    return key.toString("utf8", this.#prefix.length);
  }

  entry({ key, value, createRevision, modRevision, lease }: KeyValue): Entry {
    const entry = { key: this.decode(key), value, createRevision, modRevision };
    return lease === "0" ? entry : { ...entry, lease };
  }
}

/** Returns the key that follows a key in etcd's order. */
export const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);

/** Encodes a transaction. @throws StoreError `Invalid` or `TooLarge` */
export function encodeTransaction(transaction: Transaction, keys: EtcdKeys): TxnRequest {
  checkTransaction(transaction);
  const { conditions, operations } = transaction;
  const conditioned = conditions.map(({ key }) => keys.encode(key));
  return {
    compare: conditions.map((condition, index) => compare(condition, conditioned[index] as Buffer)),
    success: operations.map((operation) => encodeOperation(operation, keys)),
    failure: conditioned.map((key) => RequestOp.fromPartial({ requestRange: { key } })),
  };
}

function encodeOperation(operation: Operation, keys: EtcdKeys): RequestOp {
  const key = keys.encode(operation.key);
  if (operation.type === "delete") return { requestDeleteRange: { key } };
  const { value, lease } = operation;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return { requestPut: { key, value: bytes, lease: lease?.id ?? "0" } };
}

function compare({ modRevision }: Condition, key: Buffer): Compare {
  return { result: EQUAL, target: MOD, key, modRevision };
}

/** Decodes etcd's response to a transaction. */
export function decodeOutcome({ succeeded, header, responses }: TxnResponse, keys: EtcdKeys): Outcome {
  const revision = header?.revision ?? 0;
  if (succeeded) return { committed: true, revision };
  const current = responses.map(({ responseRange }): Entry | undefined => {
    const found = responseRange?.kvs[0];
    return found && keys.entry(found);
  });
  return { committed: false, revision, current };
}

/** Converts an event of etcd. */
export function toStoreEvent({ type, kv, prevKv }: Event, keys: EtcdKeys): StoreEvent {
  return {
    key: keys.decode(kv?.key ?? keys.none),
    entry: type === DELETE || kv === undefined ? undefined : keys.entry(kv),
    previous: prevKv && keys.entry(prevKv),
  };
}

/** Returns whether the previous entry is missing: etcd silently omits it once it is compacted. */
export function lacksPrevious({ type, kv, prevKv }: Event): boolean {
  return prevKv === undefined && kv !== undefined && (type === DELETE || kv.createRevision < kv.modRevision);
}

/** Returns the memory of an event, in bytes. */
export function sizeOf({ kv, prevKv }: Event): number {
  return (kv?.key.length ?? 0) + (kv?.value.length ?? 0) + (prevKv?.value.length ?? 0) + OVERHEAD;
}
