import type { Duplex } from "node:stream";

/** By what a remote cluster is reached: a tunnel, or another hub that has one. */
export interface Way {
  /** Whether a connection can be asked for. */
  readonly usable: boolean;
  /** A connection to what the agent calls so. @throws TunnelError; the signal's reason */
  readonly open: (target: string, options: { readonly signal: AbortSignal }) => Promise<Duplex>;
  /** Resolves when no more connections are to be asked for. */
  readonly draining: Promise<unknown>;
  /** Resolves when those that there were have ended. */
  readonly closed: Promise<unknown>;
  /** Aborts when watches are to end that are open by it. @default never: what ends them is at its other end */
  readonly ending?: AbortSignal;
}
