import { type ServiceError, status } from "@grpc/grpc-js";
import { StoreError, type StoreErrorCode } from "../store-error.ts";

/** Meaning of an error of a call. */
export type Verdict =
  /** etcd answered; a retry changes nothing. */
  | { readonly is: "final"; readonly error: StoreError }
  /** etcd did not process the call: another member, or the same one later, may. */
  | { readonly is: "refused"; readonly error: StoreError }
  /** The token is no longer valid. */
  | { readonly is: "token"; readonly error: StoreError }
  /** Unknown outcome: etcd may have processed the call. */
  | { readonly is: "lost"; readonly error: StoreError };

/** etcd's errors differ only in their texts, because several share a gRPC code. The first match wins. */
const FINAL: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/required revision has been compacted/, "Compacted"],
  [/required revision is a future revision/, "Future"],
  [/database space exceeded/, "NoSpace"],
  [/request is too large|message larger than max|too many operations/, "TooLarge"],
  [/requested lease not found/, "LeaseNotFound"],
  [/too large lease TTL|duplicate key given|key is not provided|watch range/, "Invalid"],
  [/permission denied|authentication failed|user name is empty|user name not found|password/, "Denied"],
];
const TOKEN = /invalid auth token|revision of auth store is old/;
const REFUSED =
  /No connection established|no leader$|too many requests|raft proposal dropped|not capable|not supported for learner/;

/** Error of a call that was never sent. */
export class Refused extends Error {}

/** Classifies an error of a call. @param at name of the member, for messages */
export function verdict(thrown: unknown, at: string): Verdict {
  if (thrown instanceof StoreError) return { is: "final", error: thrown };
  const error = thrown as ServiceError;
  const text = (error.details ?? error.message).replace(/\.? Resolution note: $/, "");
  const as = (code: StoreErrorCode): StoreError => new StoreError(code, `${at}: ${text}`, { cause: error });
  const final = FINAL.find(([pattern]) => pattern.test(text));
  if (thrown instanceof Refused) return { is: "refused", error: as("Unavailable") };
  if (TOKEN.test(text)) return { is: "token", error: as("Denied") };
  if (final !== undefined) return { is: "final", error: as(final[1]) };
  if (REFUSED.test(text)) return { is: "refused", error: as("Unavailable") };
  if (error.code === status.PERMISSION_DENIED || error.code === status.UNAUTHENTICATED)
    return { is: "final", error: as("Denied") };
  if (error.code === status.UNIMPLEMENTED) return { is: "final", error: as("Invalid") };
  return { is: "lost", error: as("Unavailable") };
}

/** Returns the error of a transaction whose response was lost. */
export function unknown(error: StoreError): StoreError {
  const text = `${error.message}; the transaction may have been committed: read before you retry`;
  return new StoreError("Unknown", text, { cause: error.cause });
}
