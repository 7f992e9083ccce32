import { isApiError } from "@virtual-workspaces/apimachinery";
import { retryAfterOf } from "../http/answer.ts";

const BRAND = Symbol.for("@virtual-workspaces/client/TerminalError");

/** A failure that trying again would not mend: made by {@link terminal}. */
export class TerminalError extends Error {
  override readonly name: string = "TerminalError";

  static {
    Object.defineProperty(TerminalError.prototype, BRAND, { value: true });
  }
}

/**
 * Thrown by a reconcile, it is reported and not tried again until the object changes. controller-runtime's
 * `reconcile.TerminalError`.
 *
 * @param cause what went wrong, or its text
 */
export function terminal(cause: unknown): TerminalError {
  return new TerminalError(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** Whether a thrown value is a {@link TerminalError}, whichever copy of this package made it. */
export function isTerminal(error: unknown): error is TerminalError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** What is done about an error. */
interface FailureDecision {
  readonly retries: boolean;
  readonly isReported: boolean;
  /** No earlier than this, ms. */
  readonly atLeast: number;
}

/**
 * A conflict only says that somebody was faster: it is tried again quietly. A server that says when to come again
 * (`Retry-After`) is not asked before.
 */
export function decisionAfter(error: unknown): FailureDecision {
  if (isTerminal(error)) return { retries: false, isReported: true, atLeast: 0 };
  if (!isApiError(error)) return { retries: true, isReported: true, atLeast: 0 };
  return { retries: true, isReported: error.reason !== "Conflict", atLeast: retryAfterOf(error) };
}
