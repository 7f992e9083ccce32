import { checkTransaction } from "../engine/limits.ts";
import type { Condition, Entry, Operation, Outcome, Transaction } from "../store.ts";
import { type Compare, RequestOp, type TxnRequest, type TxnResponse } from "./generated/rpc.ts";
import type { Keys } from "./keys.ts";

const EQUAL = 0;
const MOD = 2;

/** @throws StoreError `Invalid` or `TooLarge`, for what no engine takes */
export function encodeTransaction(transaction: Transaction, keys: Keys): TxnRequest {
  checkTransaction(transaction);
  const { conditions, operations } = transaction;
  const conditioned = conditions.map(({ key }) => keys.encode(key));
  return {
    compare: conditions.map((condition, index) => compare(condition, conditioned[index] as Buffer)),
    success: operations.map((operation) => encodeOperation(operation, keys)),
    failure: conditioned.map((key) => RequestOp.fromPartial({ requestRange: { key } })),
  };
}

/** What etcd says of it. */
export function decodeOutcome({ succeeded, header, responses }: TxnResponse, keys: Keys): Outcome {
  const revision = header?.revision ?? 0;
  if (succeeded) return { committed: true, revision };
  const current = responses.map(({ responseRange }): Entry | undefined => {
    const found = responseRange?.kvs[0];
    return found && keys.entry(found);
  });
  return { committed: false, revision, current };
}

function compare({ modRevision }: Condition, key: Buffer): Compare {
  return { result: EQUAL, target: MOD, key, modRevision };
}

function encodeOperation(operation: Operation, keys: Keys): RequestOp {
  const key = keys.encode(operation.key);
  if (operation.type === "delete") return { requestDeleteRange: { key } };
  const { value, lease } = operation;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return { requestPut: { key, value: bytes, lease: lease?.id ?? "0" } };
}
