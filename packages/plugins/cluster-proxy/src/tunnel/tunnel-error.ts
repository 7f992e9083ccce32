/**
 * Reason of a failed stream. With `closed` the tunnel has ended. With `draining` its other end accepts no new streams and received none,
 * so another tunnel can be used. With `refused` the agent does not allow the target, and with `unreachable` it cannot connect to it.
 */
export type TunnelErrorCode = "closed" | "draining" | "refused" | "unreachable";

/** Error of a stream in a tunnel. Security: its message names the target and contains no addresses behind the agent. */
export class TunnelError extends Error {
  override readonly name = "TunnelError";
  readonly code: TunnelErrorCode;

  constructor(code: TunnelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Reports whether a value is a {@link TunnelError}. */
export function isTunnelError(error: unknown): error is TunnelError {
  return error instanceof TunnelError;
}
