import { StoreError } from "../store-error.ts";
import type { Condition, Entry, Operation, Outcome, Transaction } from "../store.ts";
import { Compare, RequestOp, type TxnRequest, type TxnResponse } from "./generated/rpc.ts";
import type { Keys } from "./keys.ts";

const MOST_OPERATIONS = 128;
const LARGEST_VALUE = 8 * 1024 * 1024;
const EQUAL = 0;
const MOD = 2;

/** @throws StoreError `Invalid` or `TooLarge`, of what makes no sense wherever it is asked */
export function encodeTransaction({ conditions, operations }: Transaction, keys: Keys): TxnRequest {
  for (const [what, { length }] of Object.entries({ operations, conditions }))
    if (length > MOST_OPERATIONS)
      throw new StoreError("TooLarge", `a transaction has at most ${MOST_OPERATIONS} ${what}, not ${length}`);
  if (new Set(operations.map(({ key }) => key)).size < operations.length)
    throw new StoreError("Invalid", "a transaction names a key once in its operations");
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
  if (!Number.isSafeInteger(modRevision) || modRevision < 0)
    throw new StoreError("Invalid", `a condition names a revision, or 0, not ${modRevision}`);
  return { result: EQUAL, target: MOD, key, modRevision };
}

function encodeOperation(operation: Operation, keys: Keys): RequestOp {
  const key = keys.encode(operation.key);
  if (operation.type === "delete") return { requestDeleteRange: { key } };
  const { value, lease } = operation;
  if (value.byteLength > LARGEST_VALUE)
    throw new StoreError("TooLarge", `a value has at most ${LARGEST_VALUE} bytes, not ${value.byteLength}`);
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return { requestPut: { key, value: bytes, lease: lease?.id ?? "0" } };
}
