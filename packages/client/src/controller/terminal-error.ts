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
