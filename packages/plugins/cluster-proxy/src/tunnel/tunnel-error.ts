/**
 * Why there is no stream through a tunnel. `closed`: the tunnel has ended. `draining`: its other end takes no more, and another tunnel
 * has to be asked; nothing was done. `refused`: the agent does not allow the target. `unreachable`: the target cannot be had from where the agent is.
 */
export type TunnelErrorCode = "closed" | "draining" | "refused" | "unreachable";

/** There is no stream through a tunnel. Its message names the target, and says nothing of addresses behind the agent. */
export class TunnelError extends Error {
  override readonly name = "TunnelError";
  readonly code: TunnelErrorCode;

  constructor(code: TunnelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether something that was thrown says that there is no stream through a tunnel. */
export function isTunnelError(error: unknown): error is TunnelError {
  return error instanceof TunnelError;
}
