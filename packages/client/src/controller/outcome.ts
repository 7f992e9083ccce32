import { isApiError } from "@virtual-workspaces/apimachinery";
import { retryAfterOf } from "../http/error-of.ts";
import { isTerminal } from "./terminal-error.ts";

/** What is done about an error. */
export interface Outcome {
  readonly retries: boolean;
  readonly isReported: boolean;
  /** No earlier than this, ms. */
  readonly atLeast: number;
}

/**
 * A conflict only says that somebody was faster: it is tried again quietly. A server that says when to come again
 * (`Retry-After`) is not asked before.
 */
export function outcomeOf(error: unknown): Outcome {
  if (isTerminal(error)) return { retries: false, isReported: true, atLeast: 0 };
  if (!isApiError(error)) return { retries: true, isReported: true, atLeast: 0 };
  return { retries: true, isReported: error.reason !== "Conflict", atLeast: retryAfterOf(error) };
}
