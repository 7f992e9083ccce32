import type { IncomingMessage, ServerResponse } from "node:http";
import type { RawRequest } from "./raw-request.ts";

/** A request about objects or versions that only one of several processes has. */
export interface PeerQuestion {
  /** With what the client, or the peer that passed it on, says of itself. */
  readonly req: IncomingMessage;
  /** The name of the virtual workspace. */
  readonly virtualWorkspace: string;
  /** Who gave the version that a read goes by, as `Minter.of` says; `undefined` where it goes by none, or is a write. */
  readonly minter: number | undefined;
}

/** Passes a request on to another process, as raw handlers do. Resolves to whether it was answered there. */
export type PassOn = (
  req: IncomingMessage,
  res: ServerResponse,
  request: RawRequest<Readonly<Record<string, string>>>,
) => Promise<boolean>;

/**
 * Says which of several processes answers a request, after its caller was authenticated and allowed: `undefined` for this
 * one. The other process is to be told the caller as {@link RawRequest.user} has it, and authorizes once more. Headers
 * that say who asks are taken off in between. What passes a request on must not be passed on in circles.
 */
export type Peers = (question: PeerQuestion) => PassOn | undefined;
