import { isApiError } from "@virtual-workspaces/apimachinery";
import { retryAfterOf } from "../http/answer.ts";

const BRAND = Symbol.for("@virtual-workspaces/client/TerminalError");

/** Error that a retry cannot fix. Created by {@link terminal}. */
export class TerminalError extends Error {
  override readonly name: string = "TerminalError";

  static {
    Object.defineProperty(TerminalError.prototype, BRAND, { value: true });
  }
}

/**
 * Creates an error that a reconcile throws to be reported, but not retried until the object changes.
 * controller-runtime's `reconcile.TerminalError`.
 *
 * @param cause the error, or its text
 */
export function terminal(cause: unknown): TerminalError {
  return new TerminalError(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** Returns whether a thrown value is a {@link TerminalError} of any copy of this package. */
export function isTerminal(error: unknown): error is TerminalError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** Reaction of the controller to an error. */
interface FailureDecision {
  readonly retries: boolean;
  readonly isReported: boolean;
  /** Minimum delay before the retry, in ms. */
  readonly atLeast: number;
}

/**
 * Decides about an error. A conflict is retried silently: another writer was faster. `Retry-After` of a server is the
 * minimum delay.
 */
export function decisionAfter(error: unknown): FailureDecision {
  if (isTerminal(error)) return { retries: false, isReported: true, atLeast: 0 };
  if (!isApiError(error)) return { retries: true, isReported: true, atLeast: 0 };
  return { retries: true, isReported: error.reason !== "Conflict", atLeast: retryAfterOf(error) };
}
